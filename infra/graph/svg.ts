import { ranks, reduced, type PackageNode } from './packages.ts';

const BOX = { width: 132, height: 36, gapX: 28, gapY: 72, margin: 24, header: 30 };
const CONTRACT = new Set(['libs/permissions', 'libs/problem-json', 'libs/events']);
const FILL = { app: '#dbeafe', platform: '#e2e8f0', contract: '#dcfce7', testing: '#fef3c7' };

interface Placed extends PackageNode {
  x: number;
  y: number;
}

function kindOf(path: string): keyof typeof FILL {
  if (path.startsWith('apps/')) return 'app';
  if (path === 'libs/testing') return 'testing';
  return CONTRACT.has(path) ? 'contract' : 'platform';
}

/** Apps stand together in the top row, each library in the row of its rank. */
function rowsOf(graph: PackageNode[]): PackageNode[][] {
  const rank = ranks(graph);
  const levels = new Map<number, PackageNode[]>();
  for (const node of graph) {
    const level = node.path.startsWith('apps/') ? Infinity : (rank.get(node.path) ?? 0);
    levels.set(level, [...(levels.get(level) ?? []), node]);
  }
  return [...levels.keys()].sort((a, b) => b - a).map((level) => levels.get(level) ?? []);
}

/** Orders each row by where the packages that import it stand, which keeps arrows from crossing. */
function place(graph: PackageNode[]): { placed: Map<string, Placed>; width: number; height: number } {
  const rows = rowsOf(graph);
  const columns = Math.max(...rows.map((row) => row.length));
  const width = columns * (BOX.width + BOX.gapX) - BOX.gapX + 2 * BOX.margin;
  const placed = new Map<string, Placed>();
  rows.forEach((row, level) => {
    const pull = (node: PackageNode): number => {
      if (kindOf(node.path) === 'testing') return width; // at the side: no arrow of production passes it
      const above = [...placed.values()].filter(({ imports }) => imports.includes(node.path));
      return above.length === 0 ? width / 2 : above.reduce((sum, { x }) => sum + x, 0) / above.length;
    };
    const ordered = [...row].sort((a, b) => pull(a) - pull(b) || a.path.localeCompare(b.path));
    const used = ordered.length * (BOX.width + BOX.gapX) - BOX.gapX;
    ordered.forEach((node, column) =>
      placed.set(node.path, {
        ...node,
        x: (width - used) / 2 + column * (BOX.width + BOX.gapX),
        y: BOX.header + BOX.margin + level * (BOX.height + BOX.gapY),
      }),
    );
  });
  return {
    placed,
    width,
    height: BOX.header + 2 * BOX.margin + rows.length * (BOX.height + BOX.gapY) - BOX.gapY,
  };
}

function arrow(from: Placed, to: Placed): string {
  const [x1, y1] = [from.x + BOX.width / 2, from.y + BOX.height];
  const [x2, y2] = [to.x + BOX.width / 2, to.y - 4];
  const bend = (y2 - y1) / 2;
  return `<path d="M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}"/>`;
}

function box({ path, x, y }: Placed): string {
  const name = path.split('/')[1] ?? path;
  const centre = x + BOX.width / 2;
  return [
    `<g><title>${path}</title>`,
    `<rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="6" fill="${FILL[kindOf(path)]}"/>`,
    `<text x="${centre}" y="${y + 23}" font-weight="600">${name}</text></g>`,
  ].join('');
}

function legend(): string {
  const names: Record<keyof typeof FILL, string> = {
    app: 'app (deployable)',
    platform: 'platform library',
    contract: 'contract library',
    testing: 'for tests only',
  };
  return (Object.keys(FILL) as (keyof typeof FILL)[])
    .map((kind, at) => {
      const x = BOX.margin + at * 150;
      return `<rect x="${x}" y="12" width="14" height="14" rx="3" fill="${FILL[kind]}"/><text x="${x + 20}" y="24" text-anchor="start" font-size="12">${names[kind]}</text>`;
    })
    .join('\n');
}

/** The picture: rows from apps down to contracts; an arrow that a longer way implies is left out. */
export function svgOf(graph: PackageNode[]): string {
  const { placed, width, height } = place(reduced(graph));
  const arrows = [...placed.values()].flatMap((from) =>
    from.imports.flatMap((path) => {
      const to = placed.get(path);
      return to ? [arrow(from, to)] : [];
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="14" text-anchor="middle" fill="#0f172a">
<title>Who imports whom: apps above, contract libraries below; arrows that a longer way implies are left out</title>
<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#64748b"/></marker></defs>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${legend()}
<g fill="none" stroke="#94a3b8" stroke-width="1.4">
${arrows.map((path) => path.replace('/>', ' marker-end="url(#head)"/>')).join('\n')}
</g>
<g stroke="none">
${[...placed.values()].map(box).join('\n')}
</g>
</svg>
`;
}
