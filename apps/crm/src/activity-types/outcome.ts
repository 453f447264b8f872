import type { Refusals } from '../fields/refusals.js';

/** How an activity of a type can end. */
export interface Outcome {
  readonly key: string;
  readonly label: string;
  /** Not to be chosen any more; where it was chosen it stays. */
  readonly archived: boolean;
}

/** Outcomes that a type may have. */
export const MOST_OUTCOMES = 20;

/** Reads outcomes as a body gives them; what is wrong goes to `refusals`. */
export function readOutcomes(refusals: Refusals, value: unknown): Outcome[] {
  const outcomes = refusals.list(value, '/outcomes', MOST_OUTCOMES).flatMap((item, index): Outcome[] => {
    const at = `/outcomes/${String(index)}`;
    const given = refusals.object(item, at, ['key', 'label', 'archived']);
    if (!given) return [];
    const key = refusals.key(given['key'], `${at}/key`);
    const label = refusals.label(given['label'], `${at}/label`, key);
    return [{ key, label, archived: refusals.flag(given['archived'], `${at}/archived`) }];
  });
  refusals.distinct(
    outcomes.map(({ key }) => key),
    (index) => `/outcomes/${String(index)}/key`,
  );
  return outcomes;
}

/** The keys of the outcomes that there were and are no more. */
export function removedOutcomes(before: readonly Outcome[], after: readonly Outcome[]): string[] {
  const kept = new Set(after.map(({ key }) => key));
  return before.map(({ key }) => key).filter((key) => !kept.has(key));
}
