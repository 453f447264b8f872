import type { Chain } from './chains.ts';
import type { UnreachableSource } from './unreachable-sources.ts';

/** A line of the timeline as it is drawn. */
export type Row<Source extends UnreachableSource = UnreachableSource> =
  | { kind: 'day'; key: string; at: string }
  | { kind: 'unreachable'; key: string; missing: Source }
  | { kind: 'chain'; key: string; chain: Chain };

/** Chains below the days of whoever looks, and each silent source where its items are missing from. */
export function rowsOf<Source extends UnreachableSource>(
  chains: readonly Chain[],
  unreachable: readonly Source[],
): Row<Source>[] {
  const rows: Row<Source>[] = [];
  const left = [...unreachable];
  let day = '';
  for (const chain of chains) {
    const reached = left.filter(({ before }) => before === undefined || chain.at < before);
    for (const missing of reached) {
      rows.push(rowOf(missing));
      left.splice(left.indexOf(missing), 1);
    }
    const its = dayOf(chain.at);
    if (its !== day) rows.push({ kind: 'day', key: `day ${its}`, at: chain.at });
    day = its;
    rows.push({ kind: 'chain', key: chain.key, chain });
  }
  return [...rows, ...left.map(rowOf)];
}

function rowOf<Source extends UnreachableSource>(missing: Source): Row<Source> {
  return { kind: 'unreachable', key: `unreachable ${missing.source}`, missing };
}

/** The day in the zone of whoever looks. `Intl` would take a second for a hundred thousand. */
export function dayOf(instant: string): string {
  const at = new Date(instant);
  return `${at.getFullYear()}-${at.getMonth() + 1}-${at.getDate()}`;
}
