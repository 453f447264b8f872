/** The dark squares of a code, row by row, as one path: what is beside each other is one rectangle. */
export function qrPath(rows: readonly (readonly boolean[])[]): string {
  return rows.flatMap((row, y) => runsOf(row).map(([x, wide]) => `M${x} ${y}h${wide}v1h-${wide}z`)).join('');
}

function runsOf(row: readonly boolean[]): [from: number, wide: number][] {
  const runs: [number, number][] = [];
  row.forEach((dark, x) => {
    const last = runs.at(-1);
    if (!dark) return;
    if (last !== undefined && last[0] + last[1] === x) last[1] += 1;
    else runs.push([x, 1]);
  });
  return runs;
}
