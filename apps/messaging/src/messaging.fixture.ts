import { randomUUID } from 'node:crypto';
import { connectEventBus } from '@customer-platform/event-bus';
import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import {
  anOrganization,
  type Caller,
  eventually,
  kafkaProbe,
  type KafkaProbe,
  startTestApp,
  type TestApp,
  testDatabase,
  type TestDatabase,
} from '@customer-platform/testing';
import { MailSink } from './mail-sink.fixture.js';
import { MessagingModule } from './messaging.module.js';
import { migrations } from './migrations/index.js';

/** Every permission of the module, and what reads all that rules, channels and campaigns carry. */
export const ALL_PERMISSIONS: Permission[] = [
  'messaging.channels.read',
  'messaging.channels.update',
  'messaging.preferences.read',
  'messaging.preferences.update',
  'messaging.routing.read',
  'messaging.routing.update',
  'messaging.routing.delete',
  'messaging.routing.purge',
  'messaging.templates.read',
  'messaging.templates.create',
  'messaging.templates.update',
  'messaging.templates.delete',
  'messaging.templates.purge',
  'messaging.sends.create',
  'messaging.sends.read',
  'messaging.suppressions.read',
  'messaging.suppressions.create',
  'messaging.suppressions.delete',
  'messaging.deliverability.read',
  'messaging.domains.read',
  'messaging.domains.create',
  'messaging.domains.verify',
  'messaging.domains.delete',
  'messaging.domains.purge',
  'messaging.webhooks.read',
  'messaging.webhooks.create',
  'messaging.webhooks.update',
  'messaging.webhooks.delete',
  'messaging.webhooks.purge',
  'messaging.campaigns.read',
  'messaging.campaigns.create',
  'messaging.campaigns.update',
  'messaging.campaigns.delete',
  'messaging.campaigns.purge',
  'messaging.campaigns.run',
  'core.contacts.read',
  'core.events.read',
  'core.segments.read',
  'crm.lists.read',
  'loyalty.transactions.read',
];

/** Messaging with a database, a mail server and a broker of its own. */
export interface MessagingWorld {
  readonly app: TestApp;
  readonly database: TestDatabase;
  readonly mail: MailSink;
  readonly probe: KafkaProbe;
  /** A fresh organization with a key that may do everything here, or what is named. */
  organization(permissions?: readonly Permission[]): { id: string; api: Caller };
  close(): Promise<void>;
}

/** What a test may start differently. */
export interface WorldOptions {
  readonly env?: Record<string, string>;
  /** Without Kafka's consumers where a spec does not need them. */
  readonly consume?: boolean;
}

/** Starts it. */
export async function messagingWorld(options: WorldOptions = {}): Promise<MessagingWorld> {
  const database = await testDatabase('messaging', migrations);
  const mail = new MailSink();
  await mail.start();
  const app = await startTestApp({
    module: 'messaging',
    root: MessagingModule,
    database,
    env: { SMTP_URL: mail.url, ...options.env },
    ...(options.consume === false ? {} : { connect: connectEventBus }),
  });
  return {
    app,
    database,
    mail,
    probe: kafkaProbe(app),
    organization: (permissions = ALL_PERMISSIONS) => {
      const { id } = anOrganization();
      return { id, api: app.as(id, permissions) };
    },
    close: async () => {
      await app.close();
      await mail.stop();
      await database.drop();
    },
  };
}

/** A send as the API shows it. */
export interface ShownSend {
  id: string;
  state: string;
  reason: string | null;
  address: string | null;
  contact_id: string | null;
  subject: string | null;
  attempts: number;
  correlation_id: string;
  provider_message_id: string | null;
  release_at: string | null;
  sent_at: string | null;
  created_at: string;
  occurred_at: string;
}

/** A body of `POST /v1/messaging/sends`. */
export function aSend(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    channel: 'email',
    recipient: { address: `${randomUUID()}@example.com` },
    content: { subject: 'Hello', text: 'Hello there.' },
    ...overrides,
  };
}

/** Sends with a fresh key and gives the send's id. */
export async function send(
  api: Caller,
  body: Record<string, unknown>,
  key: string = randomUUID(),
): Promise<string> {
  const answer = await api.post<{ send_id: string }>('/v1/messaging/sends', body, { 'idempotency-key': key });
  if (answer.status !== 202) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.send_id;
}

/** The send as it stands. */
export async function shown(api: Caller, id: string): Promise<ShownSend> {
  const { body } = await api.get<{ data: ShownSend[] }>(`/v1/messaging/sends?id=${id}`);
  const [found] = body.data;
  if (!found) throw new Error(`there is no send ${id}`);
  return found;
}

/** Waits until the send is in one of the states. */
export async function settled(api: Caller, id: string, ...states: string[]): Promise<ShownSend> {
  return eventually(
    async () => {
      const found = await shown(api, id);
      if (!states.includes(found.state))
        throw new Error(`the send is ${found.state} (${found.reason}), not ${states.join(' or ')}`);
      return found;
    },
    { within: 20_000 },
  );
}

/** The states the send went through, oldest first. */
export async function history(
  api: Caller,
  id: string,
): Promise<
  { state: string; reason: string | null; attempt: number; smtp_code: number | null; occurred_at: string }[]
> {
  const { body } = await api.get<{ data: never[] }>(`/v1/messaging/sends/${id}/history`);
  return body.data;
}

/** A body of `POST /v1/messaging/templates`. */
export function aTemplate(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: `Template ${randomUUID()}`,
    channel: 'email',
    default_locale: 'es',
    locales: { es: { subject: 'Hola {{ contact.first_name }}', html: '<p>Gracias</p>' } },
    ...overrides,
  };
}

/** Creates a template and gives its id. */
export async function template(api: Caller, overrides: Record<string, unknown> = {}): Promise<string> {
  const answer = await api.post<{ id: string }>('/v1/messaging/templates', aTemplate(overrides));
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.id;
}

/** A contact's snapshot as core's events carry it. */
export function aContact(overrides: Record<string, unknown> = {}) {
  const id = newId();
  return {
    id,
    external_id: `ext-${id}`,
    email: `${id}@example.com`,
    phone: null,
    first_name: 'Ana',
    last_name: 'Rojas',
    locale: 'es-CL',
    timezone: 'America/Santiago',
    country: 'CL',
    attributes: {},
    state: 'active' as const,
    ...overrides,
  };
}

/** The event by which core tells that a contact paid an invoice; its id is the correlation id of what it leads to. */
export function aRecordedEvent(
  organizationId: string,
  contact: Pick<ReturnType<typeof aContact>, 'id' | 'external_id'>,
  properties: Record<string, unknown> = {},
) {
  const id = newId();
  const at = new Date().toISOString();
  return {
    id,
    type: 'core.event.recorded.v1' as const,
    organizationId,
    correlationId: id,
    data: {
      event_id: id,
      contact_id: contact.id,
      external_id: contact.external_id,
      event: 'invoice_paid',
      occurred_at: at,
      received_at: at,
      properties,
    },
  };
}

/** All that an event led to. */
export async function sendsOf(api: Caller, correlationId: string): Promise<ShownSend[]> {
  const { body } = await api.get<{ data: ShownSend[] }>(
    `/v1/messaging/sends?correlation_id=${correlationId}`,
  );
  return body.data;
}

/** Waits until an event has led to one send. */
export async function oneSendOf(api: Caller, correlationId: string): Promise<ShownSend> {
  return eventually(
    async () => {
      const [found, ...more] = await sendsOf(api, correlationId);
      if (!found || more.length > 0) throw new Error(`${String(more.length + (found ? 1 : 0))} sends`);
      return found;
    },
    { within: 20_000 },
  );
}

/** What core answers of the devices of contacts, each of which has one or none. */
export function toldDevices(
  body: unknown,
  tokenOf: (contactId: string) => string | null | undefined,
): { data: object[] } {
  const { ids } = body as { ids: string[] };
  const data = ids.flatMap((id) => {
    const value = tokenOf(id);
    // The identity's id is as constant as the device.
    const identity_id = id.replace(/^.{8}/, 'aaaaaaaa');
    return value ? [{ contact_id: id, identity_id, value, seen_at: '2026-01-01T00:00:00.000Z' }] : [];
  });
  return { data };
}
