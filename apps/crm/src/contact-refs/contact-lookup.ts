import type { ContactRef, ContactState } from './contact-ref.js';

const STATES: readonly ContactState[] = ['active', 'merged', 'deleted', 'erased'];
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Reads core's answer to a look-up of contacts; ids that core does not know are not in it.
 * @throws TypeError when it is not what the two modules agreed on
 */
export function parseLookup(answer: unknown): ContactRef[] {
  const list = (answer as { data?: unknown } | null | undefined)?.data;
  if (!Array.isArray(list)) throw new TypeError('The look-up has no data');
  return list.map(readRef);
}

function readRef(value: unknown): ContactRef {
  const { id, state, merged_into: survivor = null, version } = value as Record<string, unknown>;
  const known = STATES.find((each) => each === state);
  const merged = isId(survivor);
  if (!isId(id) || !known || !Number.isSafeInteger(version) || merged !== (known === 'merged')) {
    throw new TypeError('The look-up holds something that is no contact');
  }
  return { id, state: known, mergedInto: merged ? survivor : null, version: version as number };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}
