import { z } from 'zod';
import { event, family, LIFECYCLE } from './definition.js';
import { changed, erasureCompleted, id } from './wire.js';

const points = z.object({
  transaction_id: id,
  contact_id: id,
  points: z.int(),
  available: z.int(),
  rule_id: id.nullable(),
  event_id: id.nullable(),
});

/** What loyalty publishes (loyalty.md §6). */
export const LOYALTY_EVENTS = {
  ...family(
    'loyalty.points',
    ['earned', 'spent', 'adjusted', 'reversed', 'expired'],
    'contact_id',
    'Points of a contact',
    points,
  ),
  ...family(
    'loyalty.rule',
    LIFECYCLE,
    'id',
    'Earning rule',
    z.object({ id, version: z.int().min(1), changed }),
  ),
  'loyalty.evaluation.failed.v1': event(
    'contact_id',
    'The rules could not be applied to an event',
    z.object({
      event_id: id,
      contact_id: id,
      code: z.string(),
      attempts: z.int().min(1),
      rule_id: id.optional(),
    }),
  ),
  'loyalty.erasure.completed.v1': event(
    'subject_request_id',
    'loyalty has turned a contact into a tombstone',
    erasureCompleted,
  ),
};
