import { z } from 'zod';
import { event, family, LIFECYCLE } from './definition.js';
import { changed, erasureCompleted, id } from './wire.js';

const onContact = z.object({ id, contact_id: id, changed });
const activityEnd = z.object({ id, contact_id: id, type_id: id, outcome: z.string().nullable() });
const listMembers = z.object({ list_id: id, contact_ids: z.array(id) });

/** What crm publishes (crm.md §6): never text, never `values`. */
export const CRM_EVENTS = {
  ...family('crm.note', LIFECYCLE, 'contact_id', 'Note', onContact),
  ...family('crm.activity', LIFECYCLE, 'contact_id', 'Activity', onContact),
  ...family('crm.activity', ['completed', 'cancelled', 'reopened'], 'contact_id', 'Activity', activityEnd),
  ...family('crm.activity_type', LIFECYCLE, 'id', 'Activity type', z.object({ id, changed })),
  ...family('crm.list', LIFECYCLE, 'id', 'List', z.object({ id, changed })),
  ...family('crm.list_members', ['added', 'removed'], 'list_id', 'Members of a list', listMembers),
  ...family(
    'crm.object_definition',
    LIFECYCLE,
    'id',
    'Definition of a custom object',
    z.object({ id, slug: z.string(), changed }),
  ),
  ...family(
    'crm.object',
    LIFECYCLE,
    'id',
    'Record of a custom object',
    z.object({ id, slug: z.string(), changed }),
  ),
  'crm.erasure.completed.v1': event('subject_request_id', 'crm has erased a contact', erasureCompleted),
};
