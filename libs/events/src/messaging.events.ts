import { z } from 'zod';
import { event, family } from './definition.js';
import { counts, erasureCompleted, id, jsonObject } from './wire.js';

const send = z.object({
  send_id: id,
  contact_id: id.nullable(),
  channel: z.string(),
  category: z.enum(['transactional', 'marketing']),
  topic: z.string().nullable(),
  campaign_id: id.nullable(),
  reason: z.string().nullable(),
  metadata: jsonObject.nullable(),
});
const SEND_STATES = [
  'accepted',
  'rendering',
  'gated',
  'dispatching',
  'held',
  'sent',
  'unconfirmed',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'suppressed',
  'opted_out',
  'capped',
  'failed',
  'canceled',
] as const;
const suppression = z.object({
  suppression_id: id,
  channel: z.string(),
  reason: z.string(),
  actor: z.object({ type: z.string(), id: z.string() }),
});

/** What messaging publishes (messaging.md §13): no address, no content. `unconfirmed` is the state `unknown`. */
export const MESSAGING_EVENTS = {
  ...family('messaging.send', SEND_STATES, 'send_id', 'Send', send),
  ...family('messaging.suppression', ['created', 'lifted'], 'suppression_id', 'Suppression', suppression),
  'messaging.preference.changed.v1': event(
    'contact_id',
    'A contact changed what it wants to receive',
    z.object({ contact_id: id, channel: z.string(), topic: z.string().nullable(), subscribed: z.boolean() }),
  ),
  ...family(
    'messaging.campaign',
    ['started', 'paused', 'progress', 'completed', 'canceled'],
    'campaign_id',
    'Campaign',
    z.object({ campaign_id: id, run_id: id, counts }),
  ),
  ...family(
    'messaging.channel',
    ['misconfigured', 'recovered'],
    'organization_id',
    'Channel',
    z.object({
      organization_id: id,
      channel: z.string(),
      provider: z.string(),
      stage: z.string(),
      code: z.int().nullable(),
    }),
  ),
  'messaging.template.published.v1': event(
    'template_id',
    'A version of a template took effect',
    z.object({ template_id: id, version: z.int().min(1) }),
  ),
  ...family(
    'messaging.sender_domain',
    ['verified', 'failed'],
    'sender_domain_id',
    'Sender domain',
    z.object({ sender_domain_id: id, domain: z.string() }),
  ),
  'messaging.webhook_endpoint.disabled.v1': event(
    'webhook_endpoint_id',
    'A webhook endpoint gets nothing any more',
    z.object({ webhook_endpoint_id: id, reason: z.string() }),
  ),
  'messaging.erasure.completed.v1': event(
    'subject_request_id',
    'messaging has erased a contact',
    erasureCompleted,
  ),
};
