import { Problem } from '@customer-platform/problem-json';
import type { LockedType } from '../activity-types/locked-type.js';
import type { Refusals } from '../fields/refusals.js';
import type { Activity, ActivityStatus } from './activity.entity.js';

/** Where an activity stands. */
type Standing = Pick<Activity, 'status' | 'outcome' | 'completedAt'>;

/** What a body says of it; what is undefined stays. */
interface GivenStanding {
  readonly status?: ActivityStatus | undefined;
  readonly outcome?: string | null | undefined;
}

/** Where every activity begins. */
export const OPEN: Standing = { status: 'open', outcome: null, completedAt: null };

/**
 * Where an activity stands after a body has said so (crm.md §2). What is wrong with the outcome goes to `refusals`.
 * @throws Problem `invalid_state` between completed and cancelled
 */
export function turn(
  refusals: Refusals,
  type: LockedType,
  before: Standing,
  given: GivenStanding,
  now: Date,
): Standing {
  const status = given.status ?? before.status;
  if (status !== before.status && status !== 'open' && before.status !== 'open') {
    throw new Problem('invalid_state', {
      detail: `A ${before.status} activity has to be opened again before it is ${status}.`,
    });
  }
  if (status !== 'completed') {
    if ((given.outcome ?? null) !== null)
      refusals.refuse('/outcome', 'not_allowed', 'Only a completed activity has an outcome.');
    return { ...OPEN, status };
  }
  const completing = before.status !== 'completed';
  const outcome = given.outcome === undefined ? before.outcome : given.outcome;
  checkOutcome(refusals, type, before.outcome, outcome, completing || given.outcome !== undefined);
  return { status, outcome, completedAt: completing ? now : before.completedAt };
}

function checkOutcome(
  refusals: Refusals,
  { outcomes, outcomeRequired }: LockedType,
  former: string | null,
  outcome: string | null,
  chosen: boolean,
): void {
  if (outcome === null) {
    if (outcomeRequired && chosen)
      refusals.refuse('/outcome', 'required', 'This type needs an outcome to be completed.');
    return;
  }
  const open = outcomes.filter(({ archived }) => !archived).map(({ key }) => key);
  if (outcome === former || open.includes(outcome)) return;
  const offer = open.length === 0 ? 'The type has none.' : `It must be one of ${open.join(', ')}.`;
  refusals.refuse('/outcome', 'invalid_enum', offer);
}
