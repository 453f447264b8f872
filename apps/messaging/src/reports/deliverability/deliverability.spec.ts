import { randomUUID } from 'node:crypto';
import { Database, newId } from '@customer-platform/database';
import { type Caller, domainEvent, eventually } from '@customer-platform/testing';
import { ContactErasure } from '../../contact-erasure.js';
import { aContact, aSend, send, settled } from '../../messaging.fixture.js';
import { bitOf, SEND_STATES } from '../../vocabulary/sends/send-state.js';
import { aReport } from '../webhooks/signed-calls.fixture.js';
import { aPush, sent, webhookWorld, type WebhookWorld } from '../webhooks/webhook-world.fixture.js';
import { DIMENSIONS } from './counted.js';
import { held, recounted, type Counts } from './deliverability.fixture.js';
import type { DeliverabilityDto } from './deliverability.dto.js';

const PATH = '/v1/messaging/deliverability';
const DAY_MS = 86_400_000;
const dateOf = (daysAgo: number): string =>
  new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
const today = (): string => dateOf(0);

let there: WebhookWorld;
beforeAll(async () => {
  there = await webhookWorld();
});
beforeEach(() => there.answerAll());
afterAll(() => there.close());

async function figures(api: Caller, query = ''): Promise<DeliverabilityDto> {
  const { status, body } = await api.get<DeliverabilityDto>(`${PATH}${query}`);
  if (status !== 200) throw new Error(`${String(status)} ${JSON.stringify(body)}`);
  return body;
}

const groupsOf = ({ data }: DeliverabilityDto): Record<string, number> =>
  Object.fromEntries(data.map(({ group, sends }) => [group ?? 'none', sends]));

/** What the answer counts, in the form of {@link recounted}. */
function countsOf({ data }: DeliverabilityDto): Map<string, Counts> {
  return new Map(
    data.map(({ period_start: period, group, sends, handed_over, received, counts }) => [
      `${period} ${group ?? ''}`,
      { sends, handed_over, received, ...counts },
    ]),
  );
}

async function expectExact(id: string, api: Caller): Promise<void> {
  for (const granularity of ['hour', 'day'] as const) {
    for (const dimension of DIMENSIONS) {
      const answer = await figures(api, `?granularity=${granularity}&group_by=${dimension}`);
      expect(countsOf(answer)).toEqual(await recounted(there.world.database, id, dimension, granularity));
    }
  }
}

async function aVerifiedDomain(id: string, domain: string): Promise<void> {
  await there.world.database.query(
    `INSERT INTO sender_domains (organization_id, id, domain, state, dkim_keys, findings, next_check_at, created_at, updated_at)
     VALUES ($1, gen_random_uuid(), $2, 'verified', '[]', '{}', 'infinity', now(), now())`,
    [id, domain],
  );
}

describe('GET /v1/messaging/deliverability', () => {
  it.each([
    ['from=2026-13-01', 'from', 'invalid_format'],
    ['from=2026-02-30', 'from', 'invalid_format'],
    ['to=2026-02-30T00:00:00Z', 'to', 'invalid_format'],
    ['from=0999-01-01', 'from', 'out_of_range'],
    ['from=2026-02-02&to=2026-02-01', 'from', 'out_of_range'],
    ['from=2026-01-01&to=2026-04-03', 'from', 'out_of_range'],
    ['from=2026-01-01&to=2026-01-08&granularity=hour&group_by=campaign', 'from', 'out_of_range'],
    ['granularity=week', 'granularity', 'invalid_enum'],
    ['group_by=address', 'group_by', 'invalid_enum'],
  ])('400 for %s', async (query, parameter, code) => {
    const { api } = there.world.organization();
    expect(await api.get(`${PATH}?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ parameter, code }] },
    });
  });

  it('400 unknown_parameter; 403 without the permission', async () => {
    const { api } = there.world.organization();
    expect(await api.get(`${PATH}?timezone=America/Santiago`)).toMatchObject({
      status: 400,
      body: { code: 'unknown_parameter' },
    });
    const { api: other } = there.world.organization(['messaging.sends.read']);
    expect(await other.get(PATH)).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  });

  it('shows every period of a range without sends, 92 days by the hour too', async () => {
    const { api } = there.world.organization();
    const days = await figures(api);
    expect(days.data).toHaveLength(30);
    expect(days).toMatchObject({ from: dateOf(29), to: today(), granularity: 'day', group_by: null });
    expect(days.totals).toMatchObject({ sends: 0, handed_over: 0, rates: { delivered: null } });
    const hours = await figures(api, '?from=2026-01-01&to=2026-04-02&granularity=hour');
    expect(hours.data).toHaveLength(92 * 24);
    expect(hours.data.at(-1)).toMatchObject({
      period_start: '2026-04-02T23:00:00.000Z',
      period_end: '2026-04-03T00:00:00.000Z',
      group: null,
    });
    const total = await figures(api, '?from=2026-01-01&to=2026-01-02&granularity=total');
    expect(total.data).toMatchObject([
      { period_start: '2026-01-01T00:00:00.000Z', period_end: '2026-01-03T00:00:00.000Z', sends: 0 },
    ]);
    expect((await figures(api, '?granularity=hour&group_by=channel')).data).toEqual([]);
  });

  it('counts each state once a send, whatever the order of reports, and computes rates of it', async () => {
    const shop = await there.shop();
    const messages = await Promise.all(Array.from({ length: 4 }, () => sent(shop.api, aPush())));
    const [one = '', two = '', three = ''] = messages.map(({ messageId }) => messageId);
    const opened = () => aReport(one, 'opened', { provider_event_id: randomUUID() });
    await there.report(shop, { events: [opened(), opened(), aReport(one, 'delivered')] });
    await there.report(shop, { events: [aReport(two, 'delivered'), aReport(two, 'complained')] });
    await there.report(shop, aReport(three, 'bounced'));
    await there.report(shop, aReport(three, 'bounced'));
    const { totals, data } = await figures(shop.api, `?from=${today()}`);
    expect(data).toHaveLength(1);
    expect(totals).toMatchObject({ sends: 4, handed_over: 4, received: 2 });
    expect(totals.counts).toMatchObject({
      ...{ accepted: 4, rendering: 4, gated: 4, dispatching: 4, sent: 4, delivered: 2, opened: 1 },
      ...{ clicked: 0, bounced: 1, complained: 1, suppressed: 0, held: 0 },
    });
    expect(totals.rates).toEqual({
      delivered: 0.5,
      bounced: 0.25,
      complained: 0.25,
      opened: 0.25,
      clicked: 0,
    });
    await expectExact(shop.id, shop.api);
  });

  it('counts a send by its domains: refused at acceptance, retried, bounced, canceled with its person', async () => {
    const { id, api } = there.world.organization();
    const settings = {
      provider: 'smtp',
      from: `Shop <news@own.example>`,
      host: '127.0.0.1',
      port: 1,
      security: 'none',
    };
    await aVerifiedDomain(id, 'own.example');
    await api.call('PUT', '/v1/messaging/channel-settings', { body: { channels: { email: settings } } });
    await api.post('/v1/messaging/suppressions', {
      channel: 'email',
      address: 'a@refused.example',
      reason: 'manual',
    });
    const key = { 'idempotency-key': randomUUID() };
    const refused = aSend({ recipient: { address: 'a@refused.example' } });
    expect(await api.post('/v1/messaging/sends', refused, key)).toMatchObject({ status: 422 });
    expect(await api.post('/v1/messaging/sends', refused, key)).toMatchObject({ status: 422 });
    const later = new Date(Date.now() + DAY_MS).toISOString();
    await send(api, aSend({ recipient: { address: 'A.B@Waits.Example' }, not_before: later }));
    expect(groupsOf(await figures(api, '?granularity=total&group_by=recipient_domain'))).toEqual({
      'refused.example': 1,
      'waits.example': 1,
    });
    expect(groupsOf(await figures(api, '?granularity=total&group_by=sender_domain'))).toEqual({
      'own.example': 2,
    });
    expect((await figures(api)).totals.counts).toMatchObject({ suppressed: 1, accepted: 1 });
    await expectExact(id, api);
  });

  it('keeps the domains of an erased person, and counts what the erasure calls off', async () => {
    const { id, api } = there.world.organization();
    const contact = aContact({ email: 'ana@gone.example' });
    await there.world.database.query(
      `INSERT INTO contacts (organization_id, id, version, state, external_id, email, email_canonical)
       VALUES ($1, $2, 1, 'active', $3, $4, $4)`,
      [id, contact.id, contact.external_id, contact.email],
    );
    const recipient = { contact_id: contact.id };
    const first = await send(api, aSend({ recipient }));
    await settled(api, first, 'sent');
    const later = new Date(Date.now() + DAY_MS).toISOString();
    await send(api, aSend({ recipient, not_before: later }));
    const erasure = there.world.app.app.get(ContactErasure, { strict: false });
    const database = there.world.app.app.get(Database, { strict: false });
    const asked = domainEvent('core.erasure.requested.v1', id, {
      subject_request_id: newId(),
      contact_id: contact.id,
    });
    await erasure.stop(asked);
    await database.inOrganization({ organizationId: id }, (tx) => erasure.erase(tx, [contact.id], asked));
    const rows = await there.world.database.query<{
      address: string | null;
      recipient_domain: string | null;
    }>('SELECT address, recipient_domain FROM sends WHERE organization_id = $1 ORDER BY created_at, id', [
      id,
    ]);
    expect(rows.map(({ address }) => address)).toEqual([null, null]);
    expect(rows[0]).toMatchObject({ recipient_domain: 'gone.example' });
    const { totals } = await figures(api, '?group_by=recipient_domain');
    expect(totals.counts).toMatchObject({ accepted: 2, sent: 1, canceled: 1 });
    await expectExact(id, api);
  });

  it('shows nothing of another organization', async () => {
    const [one, other] = [there.world.organization(), there.world.organization()];
    await settled(one.api, await send(one.api, aSend()), 'sent');
    expect((await figures(one.api)).totals.sends).toBe(1);
    expect((await figures(other.api)).totals.sends).toBe(0);
    expect((await figures(other.api, '?group_by=recipient_domain')).data).toEqual([]);
  });

  it('is the same before and after what has changed is added to the counts', async () => {
    const { id, api } = there.world.organization();
    for (let n = 0; n < 3; n += 1) await settled(api, await send(api, aSend()), 'sent');
    await expectExact(id, api);
    await eventually(async () => {
      expect(await held(there.world.database, id)).toEqual({ changes: 0, negative: 0 });
    });
    await expectExact(id, api);
  });
});

it('knows the bits of states as the database does', async () => {
  const rows = await there.world.database.query<{ bit: number }>(
    'SELECT send_state_bit(state) AS bit FROM unnest($1::text[]) AS state',
    [SEND_STATES],
  );
  expect(rows.map(({ bit }) => bit)).toEqual(SEND_STATES.map(bitOf));
});
