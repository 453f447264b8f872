/** One line of the table. */
export interface Row {
  part: string;
  /** How much was run: "30 files, 212 tests". */
  run: string;
  /** `inconclusive`: all of it fails without the other release too, or it could not be run. */
  verdict: 'ok' | 'broken' | 'inconclusive' | 'nothing to do';
  /** What went wrong, a line each. */
  details: string[];
}

/** Whether every part was judged and none is broken. */
export function isCompatible(rows: readonly Row[]): boolean {
  return rows.length > 0 && rows.every(({ verdict }) => verdict === 'ok' || verdict === 'nothing to do');
}

/** The table, with what went wrong below it. */
export function tableOf(rows: readonly Row[]): string[] {
  const head = { part: 'Part', run: 'Run', verdict: 'Verdict' };
  const width = (field: 'part' | 'run'): number =>
    Math.max(...[head, ...rows].map((row) => row[field].length));
  const line = ({ part, run, verdict }: typeof head): string =>
    [part.padEnd(width('part')), run.padEnd(width('run')), verdict].join('  ');
  const details = rows
    .filter(({ details }) => details.length > 0)
    .flatMap(({ part, details }) => ['', `${part}:`, ...details.map((detail) => `  ${detail}`)]);
  return [line(head), ...rows.map((row) => line(row)), ...details];
}
