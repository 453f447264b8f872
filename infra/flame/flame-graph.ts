import type { CpuProfile, ProfileNode } from './cpu-profile.ts';

const WIDTH = 1_200;
const ROW = 16;
const HEAD = 40;
/** Narrower frames are left out: they cannot be read, and are most of a picture's bytes. */
const NARROWEST = 1.5;
const CHARACTER = 6.2;
/** A sample that came later than this waited for the processor: that is no time of the function it found. */
const LONGEST_SAMPLE_US = 2_000;
/** What is no work of the process. */
const RESTING = new Set(['(idle)', '(program)']);

/** A function and what it called, with the microseconds that it and they took. */
interface Frame {
  readonly name: string;
  readonly place: string;
  micros: number;
  own: number;
  readonly callees: Map<string, Frame>;
}

/** What a picture tells in words. */
interface Busiest {
  /** The share of the time in which the process was at work, from 0 to 1. */
  readonly busy: number;
  /** Functions by the time that they themselves took, the longest first, as shares of the time at work. */
  readonly functions: readonly { name: string; share: number }[];
}

/** A flame graph as SVG: the widths of the boxes are shares of the time at work, callees stand on their callers. */
export function drawFlames(title: string, profile: CpuProfile): { svg: string; busiest: Busiest } {
  const { root, all } = fold(profile);
  const busy = root.micros / Math.max(1, all);
  const boxes: string[] = [];
  let deepest = 0;
  const draw = (frame: Frame, x: number, depth: number): void => {
    const width = (frame.micros / Math.max(1, root.micros)) * WIDTH;
    if (width < NARROWEST) return;
    deepest = Math.max(deepest, depth);
    boxes.push(boxOf(frame, { x, width, depth, share: frame.micros / root.micros }));
    let at = x;
    for (const callee of [...frame.callees.values()].sort((a, b) => b.micros - a.micros)) {
      draw(callee, at, depth + 1);
      at += (callee.micros / Math.max(1, root.micros)) * WIDTH;
    }
  };
  draw(root, 0, 0);
  const height = HEAD + (deepest + 1) * ROW;
  const head = `${title}: at work ${percent(busy)} of the time`;
  return {
    svg:
      `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="monospace" font-size="10">` +
      `<rect width="100%" height="100%" fill="#fff"/><text x="8" y="24" font-size="16">${escapeXml(head)}</text>\n` +
      `${boxes.join('\n')}\n</svg>\n`,
    busiest: { busy, functions: longest(root) },
  };
}

function fold({ nodes, samples, timeDeltas }: CpuProfile): { root: Frame; all: number } {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const root: Frame = { name: 'all', place: '', micros: 0, own: 0, callees: new Map() };
  const stacks = new Map<number, readonly ProfileNode[]>();
  const stackOf = (id: number): readonly ProfileNode[] => {
    const known = stacks.get(id);
    if (known) return known;
    const node = byId.get(id);
    const parent = parents.get(id);
    const stack = [...(parent === undefined ? [] : stackOf(parent)), ...(node ? [node] : [])];
    stacks.set(id, stack);
    return stack;
  };
  let all = 0;
  samples.forEach((id, at) => {
    const micros = timeDeltas[at] ?? 0;
    all += micros;
    const worked = Math.min(micros, LONGEST_SAMPLE_US);
    const [, ...stack] = stackOf(id);
    if (stack.length === 0 || RESTING.has(stack.at(-1)?.callFrame.functionName ?? '')) return;
    root.micros += worked;
    let frame = root;
    for (const { callFrame } of stack) {
      const name = callFrame.functionName || '(anonymous)';
      const place = placeOf(callFrame.url, callFrame.lineNumber);
      const key = `${name} ${place}`;
      let next = frame.callees.get(key);
      if (!next) frame.callees.set(key, (next = { name, place, micros: 0, own: 0, callees: new Map() }));
      next.micros += worked;
      frame = next;
    }
    frame.own += worked;
  });
  return { root, all };
}

/** The file within the checkout or the package, and the line. */
function placeOf(url: string, line: number): string {
  if (url === '') return '';
  const path = url.replace(/^file:\/\//, '').replace(/^.*\/node_modules\//, '');
  return `${path.replace(/^.*\/(?=(?:apps|libs)\/)/, '')}:${line + 1}`;
}

function longest(root: Frame): Busiest['functions'] {
  const own = new Map<string, number>();
  const walk = (frame: Frame): void => {
    const name = frame.place === '' ? frame.name : `${frame.name} (${frame.place})`;
    own.set(name, (own.get(name) ?? 0) + frame.own);
    for (const callee of frame.callees.values()) walk(callee);
  };
  walk(root);
  return [...own]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 12)
    .map(([name, micros]) => ({ name, share: micros / Math.max(1, root.micros) }));
}

function boxOf(frame: Frame, at: { x: number; width: number; depth: number; share: number }): string {
  const y = HEAD + at.depth * ROW;
  const room = Math.floor(at.width / CHARACTER) - 1;
  const label = room < 3 ? '' : frame.name.slice(0, room);
  const title = `${frame.name} ${frame.place} ${percent(at.share)}`.replace(/ +/g, ' ');
  return (
    `<g><title>${escapeXml(title)}</title>` +
    `<rect x="${at.x.toFixed(1)}" y="${y}" width="${at.width.toFixed(1)}" height="${ROW - 1}" fill="${colourOf(frame.place)}"/>` +
    (label === '' ? '' : `<text x="${(at.x + 3).toFixed(1)}" y="${y + 11}">${escapeXml(label)}</text>`) +
    '</g>'
  );
}

/** Ours, a library's, Node's own. */
function colourOf(place: string): string {
  if (/^(?:apps|libs)\//.test(place)) return '#f4a259';
  return place === '' || place.startsWith('node:') ? '#c9d6df' : '#8cb369';
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
