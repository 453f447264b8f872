import type { AskedPart } from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import {
  askTimeline,
  type Caller,
  type TimelineAnswer,
  type TimelineQuestion,
} from '@customer-platform/testing';
import { newId } from '@customer-platform/database';
import { aContactRow } from '../people/consents/consent.fixture.js';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';

interface Item {
  readonly id: string;
  readonly occurred_at: string;
  readonly [field: string]: unknown;
}

const READ = ['core.events.read', 'core.consents.read'] as const;
const FIELDS = { event: ['id', 'occurred_at', 'event'], consent: ['id', 'occurred_at', 'purpose'] };
const BOTH = { event: { fields: FIELDS.event }, consent: { fields: FIELDS.consent } };
const second = (at: number): string => new Date(Date.UTC(2026, 0, 15, 12, 0, at)).toISOString();

let core: TestCore;
let organizationId: string;
let contactId: string;
let caller: Caller;

beforeAll(async () => {
  core = await startCore();
}, START_MS);
afterAll(() => core.close());
beforeEach(async () => {
  ({ id: organizationId } = core.anOrganization());
  contactId = await aContactRow(core, organizationId);
  caller = core.app.as(organizationId, READ);
});

const EVENT = `
  INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at,
    received_at, payload, source, fingerprint)
  VALUES ($1, $2, 'track', 'paid', 'x', $3, $4, $5, $5, '{"amount": 1e2}', 'api', $2)`;
const CONSENT = `
  INSERT INTO consent_events (organization_id, id, contact_id, purpose, channel, status, legal_basis, occurred_at,
    controller, actor_type, actor_id, correlation_id, recorded_at)
  VALUES ($1, $2, $3, 'marketing', 'email', 'withdrawn', 'consent', $4, $1, 'system', 'test', $2, $4)`;

async function has(type: 'event' | 'consent', at: number, owner = contactId): Promise<void> {
  const id = newId();
  if (type === 'event') await core.database.query(EVENT, [organizationId, id, owner, id, second(at)]);
  else await core.database.query(CONSENT, [organizationId, id, owner, second(at)]);
}

const ask = (question: Partial<TimelineQuestion> = {}): Promise<TimelineAnswer> =>
  askTimeline(core.app, {
    organizationId,
    permissions: READ,
    path: '/v1/core/events',
    contactId,
    parts: BOTH,
    ...question,
  });

/** Answers of the lists of the parts. */
async function listed(type: 'event' | 'consent', query = ''): Promise<Item[]> {
  const path =
    type === 'event'
      ? `/v1/core/events?contact_id=${contactId}&limit=200`
      : `/v1/core/contacts/${contactId}/consents?view=history&limit=200`;
  return (await caller.get<{ data: Item[] }>(path + query)).body.data;
}

const headsOf = (type: 'event' | 'consent', items: readonly Item[]): unknown[] =>
  items.map((item) => Object.fromEntries(FIELDS[type].map((field) => [field, item[field]])));

describe('all that core has for a timeline', () => {
  it('is what its lists show, each part newest first, with what is asked to be told beside it', async () => {
    for (let at = 0; at < 6; at += 1) await has(at % 3 === 0 ? 'consent' : 'event', at >> 1);
    const [events, consents] = [await listed('event'), await listed('consent')];
    const { parts } = await ask();
    expect(parts).toEqual({
      event: { status: 200, items: events, heads: headsOf('event', events), more: false },
      consent: { status: 200, items: consents, heads: headsOf('consent', consents), more: false },
    });
  });

  it('is cut to the newest of both together, from where each part stands', async () => {
    for (let at = 0; at < 8; at += 1) await has(at % 2 === 0 ? 'consent' : 'event', at >> 2);
    const seen: Record<'event' | 'consent', Item[]> = { event: [], consent: [] };
    let parts: Record<string, AskedPart> = BOTH;
    for (let left = true; left;) {
      const { parts: told = {} } = await ask({ limit: 3, parts });
      const types = Object.keys(parts) as (keyof typeof seen)[];
      const items = types.map((type) => told[type]?.items as Item[]);
      expect(items.flat().length).toBeLessThanOrEqual(3);
      types.forEach((type, at) => seen[type].push(...(items[at] ?? [])));
      const open = types.filter((type) => told[type]?.more);
      left = open.length > 0;
      parts = Object.fromEntries(
        open.map((type) => {
          const last = seen[type].at(-1);
          const after = last && { after: { occurredAt: last.occurred_at, id: last.id } };
          return [type, { fields: FIELDS[type], ...after }];
        }),
      );
    }
    expect(seen).toEqual({ event: await listed('event'), consent: await listed('consent') });
  });

  it('says until when retention has removed something', async () => {
    await core.database.query(
      `INSERT INTO retention_periods (organization_id, kind, wanted_since, days, removed_until)
       VALUES ($1, 'events', $2, 30, $2)`,
      [organizationId, second(0)],
    );
    expect((await ask()).parts?.['event']).toMatchObject({ removedUntil: second(0) });
  });

  it('shows nobody what is another organization’s', async () => {
    await has('event', 0);
    await has('consent', 0);
    const { parts } = await ask({ organizationId: core.anOrganization().id });
    expect(parts).toEqual({
      event: { status: 200, items: [], heads: [], more: false },
      consent: { status: 404 },
    });
  });

  it('carries the correlation id of who asks', async () => {
    const id = newId();
    expect(await ask({ headers: { 'x-correlation-id': id } })).toMatchObject({ correlationId: id });
  });
});

describe('the rights of who asks', () => {
  it.each<[Permission[], number, number]>([
    [['core.events.read'], 200, 403],
    [['core.consents.read'], 403, 200],
    [['crm.timeline.read'], 403, 403],
  ])('with %s', async (permissions, event, consent) => {
    await has('event', 0);
    await has('consent', 0);
    const { parts } = await ask({ permissions });
    expect(parts).toMatchObject({ event: { status: event }, consent: { status: consent } });
  });

  it('401 without a credential, and with one that nobody has', async () => {
    const headers = [{ authorization: '' }, { authorization: 'Bearer cpk_live_unknown' }];
    for (const each of headers) {
      expect(await ask({ headers: each })).toMatchObject({ status: 401 });
    }
  });
});

describe('contacts with whom a merge has to do', () => {
  it('show a survivor what was said under the ids of those merged into it', async () => {
    const other = await aContactRow(core, organizationId, { merged_into: contactId });
    await has('event', 0);
    await has('consent', 1);
    await has('consent', 2, other);
    const [events, consents] = [await listed('event'), await listed('consent')];
    expect(consents).toHaveLength(2);
    const { parts } = await ask({ limit: 3 });
    expect(parts).toMatchObject({
      event: { items: events, more: false },
      consent: { items: consents, more: false },
    });
  });

  it('show a survivor no more than the newest of events and consents together', async () => {
    const other = await aContactRow(core, organizationId, { merged_into: contactId });
    for (let at = 0; at < 3; at += 1) {
      await has('event', 2 * at);
      await has('consent', 2 * at + 1, other);
    }
    const [events, consents] = [await listed('event'), await listed('consent')];
    const first = await ask({ limit: 3 });
    expect(first.parts).toMatchObject({
      event: { items: events.slice(0, 1), more: true },
      consent: { items: consents.slice(0, 2), more: true },
    });
    const after = { occurredAt: consents[1]?.occurred_at ?? '', id: consents[1]?.id ?? '' };
    const rest = await ask({ limit: 3, parts: { ...BOTH, consent: { ...BOTH.consent, after } } });
    expect(rest.parts).toMatchObject({
      event: { items: events.slice(0, 2), more: true },
      consent: { items: consents.slice(2), more: false },
    });
  });

  it('lead from a merged one to its survivor’s events, and elsewhere for consents', async () => {
    await has('event', 0);
    const merged = await aContactRow(core, organizationId, { merged_into: contactId });
    const { parts } = await ask({ contactId: merged });
    expect(parts).toMatchObject({
      event: { status: 200, items: await listed('event') },
      consent: { status: 307 },
    });
  });

  it('404 of consents where the contact is erased, or never was', async () => {
    const erased = await aContactRow(core, organizationId, { erased_at: second(0) });
    for (const id of [erased, newId()]) {
      expect((await ask({ contactId: id })).parts).toMatchObject({
        event: { status: 200, items: [] },
        consent: { status: 404 },
      });
    }
  });
});

describe('what the list answers itself', () => {
  it.each([
    ['a narrowed list', { more: '&event=paid' }],
    ['a part that core has not', { parts: { send: { fields: [] } } }],
    [
      'a place that is none',
      { parts: { event: { fields: [], after: { occurredAt: 'yesterday', id: newId() } } } },
    ],
    ['fields that are none', { parts: { event: { fields: ['a b'] } } }],
    ['a traced request', { headers: { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` } }],
  ])('%s', async (_, question) => {
    await has('event', 0);
    const { status, parts, body } = await ask(question);
    expect({ status, parts, data: (body as { data: Item[] }).data }).toEqual({
      status: 200,
      parts: undefined,
      data: await listed('event'),
    });
  });

  it.each(['&limit=0', '&colour=red'])('the problems of a request that is wrong: %s', async (more) => {
    expect(await ask({ more })).toMatchObject({ status: 400 });
  });
});
