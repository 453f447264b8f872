import { z } from 'zod';
import { SHARED_CONTACT_FIELDS } from './contact-fields.js';
import { event, family } from './definition.js';
import { changed, counts, id, instant, jsonObject } from './wire.js';

/** A contact as other modules may know it: never the national id. */
export const contactSnapshot = z.object({
  id,
  ...SHARED_CONTACT_FIELDS,
  attributes: jsonObject,
  state: z.enum(['active', 'merged', 'deleted', 'erased']),
});

const recorded = z.object({
  event_id: id,
  contact_id: id,
  external_id: z.string().nullable(),
  event: z.string(),
  occurred_at: instant,
  received_at: instant,
  properties: jsonObject,
});

const stage = z.enum(['validate', 'resolve', 'store', 'profile', 'segments', 'emit', 'loyalty']);
const contactChange = z.object({
  contact_id: id,
  version: z.int().min(1),
  changed_fields: changed,
  contact: contactSnapshot,
});
const contactEnd = z.object({
  contact_id: id,
  version: z.int().min(1),
  changed_fields: changed,
  contact: z.null(),
});
const merge = z.object({
  merge_id: id,
  survivor_id: id,
  merged_id: id,
  survivor_version: z.int().min(1).describe('Version of the survivor after the change.'),
  merged_version: z.int().min(1).describe('Version of the merged contact after the change.'),
});
const consent = z.object({
  contact_id: id,
  purpose: z.string(),
  channel: z.string().nullable(),
  status: z.enum(['granted', 'denied', 'withdrawn', 'expired']),
  previous: z.enum(['granted', 'denied', 'withdrawn', 'expired']).nullable(),
});
const membership = z.object({
  segment_id: id,
  contact_id: id,
  cause: z.enum(['event', 'attribute', 'consent', 'time', 'merge', 'rule_change', 'restore', 'import']),
  at: instant,
});
const subjectRequest = z.object({
  subject_request_id: id,
  type: z.enum(['access', 'erasure', 'portability', 'rectification', 'opposition', 'blocking']),
  contact_id: id.nullable(),
  due_at: instant.nullable(),
});

/** What core publishes (core.md §14). */
export const CORE_EVENTS = {
  'core.event.recorded.v1': event('contact_id', 'A behavioral event was stored on its contact', recorded),
  'core.event.dead_lettered.v1': event(
    'event_id',
    'An event failed and waits among the dead letters',
    z.object({ event_id: id, stage, code: z.string() }),
  ),
  'core.dead_letter.replayed.v1': event(
    'event_id',
    'A dead letter is run again from the stage at which it failed',
    z.object({
      event_id: id,
      stage,
      recorded: recorded
        .nullable()
        .optional()
        .describe('The event as core.event.recorded carried it, when the stage belongs to another module.'),
    }),
  ),
  ...family(
    'core.contact',
    ['created', 'updated', 'deleted', 'restored'],
    'contact_id',
    'Contact',
    contactChange,
  ),
  ...family('core.contact', ['purged', 'erased'], 'contact_id', 'Contact', contactEnd),
  ...family('core.contact', ['merged', 'unmerged'], 'survivor_id', 'Contacts', merge),
  ...family(
    'core.identity',
    ['added', 'removed', 'seen'],
    'contact_id',
    'Identity of a contact',
    z.object({
      contact_id: id,
      identity_id: id,
      type: z.string(),
      push_token: z
        .object({ value: z.string(), seen_at: instant })
        .optional()
        .describe('Of a `custom.push_token`: the device, unless it has to be asked for.'),
    }),
  ),
  ...family('core.consent', ['recorded', 'expired'], 'contact_id', 'State of a consent', consent),
  ...family('core.segment', ['entered', 'left'], 'contact_id', 'Segment membership', membership),
  'core.attribute.migrated.v1': event(
    'attribute_id',
    'A declared attribute got another type',
    z.object({ attribute_id: id, key: z.string(), from: z.string(), to: z.string(), counts }),
  ),
  'core.taxonomy.installed.v1': event(
    'taxonomy_id',
    'An event taxonomy was installed',
    z.object({
      taxonomy_id: id,
      slug: z.string(),
      version: z.string(),
      mode: z.enum(['off', 'warn', 'strict']),
    }),
  ),
  'core.import.completed.v1': event(
    'import_id',
    'An import of contacts ended',
    z.object({ import_id: id, state: z.enum(['completed', 'failed']), counts }),
  ),
  'core.erasure.requested.v1': event(
    'contact_id',
    'A contact must be erased in every module',
    z.object({
      subject_request_id: id,
      contact_id: id,
      contact_ids: z
        .array(id)
        .optional()
        .describe(
          'The contact and all who were merged into it, as core knew when it was asked: news of merges and of their undoing may come later.',
        ),
    }),
  ),
  ...family(
    'core.subject_request',
    ['received', 'due_soon', 'completed'],
    'subject_request_id',
    'Request of a data subject',
    subjectRequest,
  ),
  'core.subject_request.extended.v1': event(
    'subject_request_id',
    'Request of a data subject: extended',
    subjectRequest.extend({ reason: z.string() }),
  ),
  'core.subject_request.rejected.v1': event(
    'subject_request_id',
    'Request of a data subject: rejected',
    subjectRequest.extend({ ground: z.string() }),
  ),
};
