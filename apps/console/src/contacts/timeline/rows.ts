import type { Chain } from './chains.ts';
import type { UnreachableSource } from './unreachable-sources.ts';

/** A line of the timeline as it is drawn. */
export type Row<Silent extends UnreachableSource = UnreachableSource> =
  | { kind: 'day'; key: string; at: string }
  | { kind: 'hole'; key: string; hole: Silent }
  | { kind: 'chain'; key: string; chain: Chain };

/** Chains below the days of whoever looks, and each silent source where its items are missing from. */
export function rowsOf<Silent extends UnreachableSource>(
  chains: readonly Chain[],
  holes: readonly Silent[],
): Row<Silent>[] {
  const rows: Row<Silent>[] = [];
  const left = [...holes];
  let day = '';
  for (const chain of chains) {
    const reached = left.filter(({ before }) => before === undefined || chain.at < before);
    for (const hole of reached) {
      rows.push(rowOf(hole));
      left.splice(left.indexOf(hole), 1);
    }
    const its = dayOf(chain.at);
    if (its !== day) rows.push({ kind: 'day', key: `day ${its}`, at: chain.at });
    day = its;
    rows.push({ kind: 'chain', key: chain.key, chain });
  }
  return [...rows, ...left.map(rowOf)];
}

function rowOf<Silent extends UnreachableSource>(hole: Silent): Row<Silent> {
  return { kind: 'hole', key: `hole ${hole.source}`, hole };
}

/** The day in the zone of whoever looks. `Intl` would take a second for a hundred thousand. */
export function dayOf(instant: string): string {
  const at = new Date(instant);
  return `${at.getFullYear()}-${at.getMonth() + 1}-${at.getDate()}`;
}
