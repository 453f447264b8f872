import type { SubjectTable } from '@customer-platform/database';
import { SHARED_CONTACT_NAMES } from '@customer-platform/events';

const OF_CONTACT = 'own.contact_id = $2';
const own = (...names: string[]): string[] => names.map((name) => `own.${name}`);

/** Of the addresses that were written to, and of those that the profile names. */
const OF_ADDRESS = `
  own.scope = 'address' AND (
    own.key IN (SELECT send.address_key FROM sends AS send
                 WHERE send.organization_id = $1 AND send.contact_id = $2 AND send.address_key IS NOT NULL)
    OR own.address IN (SELECT unnest(ARRAY[contact.email, contact.phone]) FROM contacts AS contact
                        WHERE contact.organization_id = $1 AND contact.id = $2))`;

/** What messaging holds of a person: what was sent and why not, and what they want to receive. */
export const SUBJECT_TABLES: readonly SubjectTable[] = [
  {
    resource: 'profile',
    from: 'contacts AS own',
    columns: own('id', ...SHARED_CONTACT_NAMES, 'attributes'),
    where: 'own.id = $2',
    order: [['own.id', 'uuid']],
  },
  {
    resource: 'devices',
    from: 'push_tokens AS own',
    columns: own('token', 'seen_at'),
    where: OF_CONTACT,
    order: [['own.id', 'uuid']],
  },
  {
    resource: 'preferences',
    portable: true,
    from: 'preferences AS own',
    columns: own('channel', 'topic', 'subscribed', 'updated_at'),
    where: `own.subject = 'contact:' || $2::text`,
    order: [
      ['own.subject', 'text'],
      ['own.channel', 'text'],
      ['own.topic', 'text'],
    ],
  },
  {
    resource: 'sends',
    from: `sends AS own
      LEFT JOIN send_payloads AS payload ON payload.organization_id = own.organization_id AND payload.send_id = own.id`,
    columns: [
      ...own('id', 'channel', 'state', 'reason', 'category', 'topic', 'address', 'sender', 'subject'),
      ...own('template_id', 'template_version', 'locale', 'source', 'event_id', 'metadata'),
      'payload.data',
      'payload.content',
      ...own('created_at', 'sent_at', 'updated_at'),
    ],
    where: OF_CONTACT,
    order: [
      ['own.created_at', 'timestamptz'],
      ['own.id', 'uuid'],
    ],
  },
  {
    resource: 'send_history',
    from: `sends AS own
      JOIN send_history AS step ON step.organization_id = own.organization_id AND step.send_id = own.id`,
    columns: ['step.send_id', 'step.state', 'step.reason', 'step.attempt', 'step.occurred_at'],
    where: OF_CONTACT,
    order: [
      ['own.created_at', 'timestamptz'],
      ['own.id', 'uuid'],
      ['step.id', 'bigint'],
    ],
  },
  {
    resource: 'campaign_members',
    from: 'campaign_members AS own',
    columns: own('run_id', 'state', 'reason', 'send_id'),
    where: OF_CONTACT,
    order: [
      ['own.run_id', 'uuid'],
      ['own.id', 'bigint'],
    ],
  },
  {
    resource: 'notifications',
    from: 'notifications AS own',
    columns: own('id', 'title', 'body', 'url', 'topic', 'created_at'),
    where: OF_CONTACT,
    order: [
      ['own.created_at', 'timestamptz'],
      ['own.id', 'uuid'],
    ],
  },
  {
    resource: 'suppressions',
    from: 'suppressions AS own',
    columns: own('id', 'channel', 'address', 'reason', 'note', 'created_at'),
    where: OF_ADDRESS,
    order: [['own.id', 'uuid']],
  },
  {
    resource: 'lifted_suppressions',
    from: 'lifted_suppressions AS own',
    columns: own('id', 'channel', 'address', 'reason', 'note', 'created_at', 'lifted_at'),
    where: OF_ADDRESS,
    order: [['own.id', 'uuid']],
  },
  {
    resource: 'webhook_deliveries',
    from: 'webhook_deliveries AS own',
    columns: own('endpoint_id', 'event_id', 'type', 'payload', 'state', 'created_at'),
    // Of what was told long ago nothing is kept but that it was.
    where: `${OF_CONTACT} AND own.payload IS NOT NULL`,
    order: [
      ['own.endpoint_id', 'uuid'],
      ['own.event_id', 'uuid'],
    ],
  },
];
