import type { Field } from './field.js';
import { isDemanded } from './field-values.js';
import type { Refusals } from './refusals.js';

/** What a change of definitions asks of the records that there are (crm.md §3). */
export interface FieldDemands {
  /** Keys of fields that no record may hold a value of, soft-deleted ones included, for the change to be made. */
  readonly unused: readonly string[];
  /** Keys of fields that every active record must hold a value of. */
  readonly filled: readonly string[];
}

/**
 * What lies between two versions of the same definitions, matched by key. Adding, relabelling, loosening and archiving
 * ask nothing. A type never changes: that goes to `refusals`.
 * @param tightens what else values that there are may not fit
 */
export function demandsOf<F extends Field>(
  refusals: Refusals,
  before: readonly F[],
  after: readonly F[],
  tightens: (before: F, after: F) => boolean = () => false,
): FieldDemands {
  const changed = after.map((field, index) => ({
    field,
    index,
    former: before.find(({ key }) => key === field.key),
  }));
  for (const { field, index, former } of changed) {
    if (former && former.type !== field.type)
      refusals.refuse(`/fields/${String(index)}/type`, 'immutable', 'The type of a field never changes.');
  }
  const removed = before.filter(({ key }) => after.every((field) => field.key !== key));
  const tightened = changed.filter(
    ({ field, former }) => former && (isTighter(former, field) || tightens(former, field)),
  );
  const filled = changed.filter(({ field, former }) => isDemanded(field) && !(former && isDemanded(former)));
  return {
    unused: [...removed.map(({ key }) => key), ...tightened.map(({ field }) => field.key)],
    filled: filled.map(({ field }) => field.key),
  };
}

/** Whether values that the field took before might be refused now. An archived option was one already. */
function isTighter(before: Field, after: Field): boolean {
  if (before.type === 'string' && after.type === 'string') return after.max_length < before.max_length;
  if ((before.type === 'integer' || before.type === 'number') && after.type === before.type) {
    const raised = after.min !== null && (before.min === null || after.min > before.min);
    const lowered = after.max !== null && (before.max === null || after.max < before.max);
    return raised || lowered;
  }
  if (before.type === 'enum' && after.type === 'enum') {
    return before.options.some(({ value }) => after.options.every((option) => option.value !== value));
  }
  if (before.type === 'reference' && after.type === 'reference') return before.target !== after.target;
  return false;
}
