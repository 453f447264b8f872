import { randomUUID } from 'node:crypto';
import { eventually, type Caller, type Tenant } from '@customer-platform/testing';

/** The event that earns points and causes a mail once the chain is prepared. */
export const EVENT = 'invoice_paid';

/** What an administrator sets up once: a rule that earns, a template, and the route that sends it. */
export async function prepareChain({ admin }: Tenant): Promise<void> {
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await admin.post<{ id: string }>(path, body);
    if (answer.status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  };
  await made('/v1/loyalty/rules', {
    name: 'A point per 1,000 CLP',
    event: EVENT,
    formula: { type: 'per_amount', currency: 'CLP', per: 1000, points: 1 },
  });
  const template = await made('/v1/messaging/templates', {
    name: 'Receipt',
    channel: 'email',
    default_locale: 'en',
    locales: {
      en: {
        subject: 'Receipt {{ event.properties.invoice_id }}',
        html: '<p>Thanks, {{ contact.first_name }}.</p>',
      },
    },
  });
  await made('/v1/messaging/event-routing', {
    name: 'Receipts',
    event_type: 'core.event.recorded',
    event_name: EVENT,
    channel: 'email',
    category: 'transactional',
    template_id: template,
  });
}

/** Makes a contact known by its address. */
export async function introduce(ingestion: Caller, externalId: string, email: string): Promise<void> {
  const { status } = await ingestion.post('/v1/core/identify', {
    external_id: externalId,
    idempotency_key: randomUUID(),
    occurred_at: new Date(Date.now() - 60_000).toISOString(),
    traits: { email, first_name: 'Ana' },
  });
  if (status !== 202) throw new Error(`POST /v1/core/identify: ${String(status)}`);
}

/** A purchase of a contact of its own, accepted. */
export async function sendPurchase(ingestion: Caller) {
  const externalId = `customer-${randomUUID()}`;
  await introduce(ingestion, externalId, `${externalId}@example.com`);
  const body = {
    event: EVENT,
    external_id: externalId,
    idempotency_key: randomUUID(),
    occurred_at: new Date().toISOString(),
    properties: { amount: 12_990, currency: 'CLP', invoice_id: 'F-1001' },
  };
  const { status } = await ingestion.post('/v1/core/track', body);
  if (status !== 202) throw new Error(`POST /v1/core/track: ${String(status)}`);
  return { externalId, body };
}

/** Waits for the contact of an external id. @returns its id */
export function contactOf(admin: Caller, externalId: string): Promise<string> {
  return eventually(
    async () => {
      const { body } = await admin.get<{ data: { id: string }[] }>(
        `/v1/core/contacts?external_id=${externalId}`,
      );
      if (!body.data[0]) throw new Error('the contact is not there yet');
      return body.data[0].id;
    },
    { within: 60_000 },
  );
}
