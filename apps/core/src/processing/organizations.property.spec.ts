import { Database, newId } from '@customer-platform/database';
import { draws, expectStatus } from '@customer-platform/testing';
import fc from 'fast-check';
import { START_MS, startCore, type TestCore } from '../core.fixture.js';
import { eventIdOf } from '../vocabulary/events/event-id.js';
import type { EventKind } from '../vocabulary/events/event-schemas.js';
import { EventProcessor } from './event-processor.js';
import { readArrival, type Arrival } from '../vocabulary/events/work-item.js';

const ORGANIZATIONS = 3;

/** An event of one of the organizations; all of them use the same few names. */
interface Sent {
  readonly organization: number;
  readonly kind: EventKind;
  readonly contact: string;
  readonly key: number;
  readonly email: string;
  readonly device: string;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  organization: fc.nat({ max: ORGANIZATIONS - 1 }),
  kind: fc.constantFrom<EventKind[]>('track', 'identify'),
  contact: fc.constantFrom('ana', 'ben', 'eva'),
  key: fc.nat({ max: 20 }),
  email: fc.constantFrom('a@example.com', 'b@example.com'),
  device: fc.constantFrom('phone', 'tablet'),
});

/** What one organization holds, by names instead of ids. */
const HELD: Readonly<Record<string, string>> = {
  contacts: `
    SELECT external_id, email, first_name, version, last_seen_at FROM contacts AS contact
      JOIN contact_activity AS activity
        ON activity.organization_id = contact.organization_id AND activity.contact_id = contact.id
     WHERE contact.organization_id = $1 ORDER BY external_id`,
  identities: `
    SELECT type, normal_value, external_id, i.last_seen_at FROM identities AS i
      JOIN contacts AS contact ON contact.organization_id = i.organization_id AND contact.id = i.contact_id
     WHERE i.organization_id = $1 ORDER BY type, normal_value`,
  events: `
    SELECT idempotency_key, event, contact.external_id, payload, event.identities, warnings FROM events AS event
      JOIN contacts AS contact
        ON contact.organization_id = event.organization_id AND contact.id = event.contact_id
     WHERE event.organization_id = $1 ORDER BY idempotency_key`,
  deadLetters: `
    SELECT code, state, external_id, payload FROM dead_letters WHERE organization_id = $1
     ORDER BY external_id, payload`,
  matches: `
    SELECT condition.event, contact.external_id, match.occurred_at FROM segment_matches AS match
      JOIN segment_conditions AS condition
        ON condition.organization_id = match.organization_id AND condition.id = match.condition_id
      JOIN contacts AS contact
        ON contact.organization_id = match.organization_id AND contact.id = match.contact_id
     WHERE match.organization_id = $1 ORDER BY 1, 2, 3`,
  usage: `
    SELECT sum(consumed) AS consumed, sum(stored) AS stored, sum(duplicates) AS duplicates,
           sum(dead_lettered) AS dead, sum(contacts_created) AS contacts
      FROM usage_days WHERE organization_id = $1`,
  suggestions: `SELECT state FROM merge_suggestions WHERE organization_id = $1`,
};

let core: TestCore;
beforeAll(async () => {
  core = await startCore();
}, START_MS);
afterAll(() => core.close());

/** Organizations of which all but the last have a segment that asks for what is sent. */
async function organizations(): Promise<string[]> {
  const ids = Array.from({ length: ORGANIZATIONS }, () => newId());
  for (const id of ids.slice(1)) {
    const caller = core.app.as(id, ['core.segments.create', 'core.events.read']);
    const rule = { event: 'bought', count: { op: 'gte', value: 1 } };
    expectStatus(await caller.post('/v1/core/segments', { name: 'Buyers', rule }), 201);
  }
  return ids;
}

function arrivalOf(
  { organization, kind, contact, key, email, device }: Sent,
  place: number,
  ids: string[],
): Arrival {
  const organizationId = ids[organization] ?? '';
  const idempotencyKey = `key-${String(key)}`;
  const body = {
    external_id: contact,
    idempotency_key: idempotencyKey,
    occurred_at: new Date(Date.UTC(2026, 0, 1, 0, 0, place)).toISOString(),
    ...(kind === 'track'
      ? { event: 'bought', properties: { organization, place } }
      : {
          traits: { email, first_name: `${contact} of ${String(organization)}` },
          identities: [{ type: 'device_id', value: device }],
        }),
  };
  const event = {
    organizationId,
    eventId: eventIdOf(organizationId, idempotencyKey),
    kind,
    receivedAt: Date.UTC(2026, 0, 2),
    body: Buffer.from(JSON.stringify(body)),
  };
  return readArrival(event, 0);
}

async function processed(arrivals: readonly Arrival[]): Promise<void> {
  if (arrivals.length === 0) return;
  const processor = core.app.app.get(EventProcessor);
  await core.app.app
    .get(Database)
    .acrossOrganizations((tx) => processor.process(tx, arrivals, { stage: 'resolve' }));
}

async function held(organizationId: string): Promise<Record<string, unknown>> {
  const parts = Object.entries(HELD).map(async ([name, sql]) => [
    name,
    await core.database.query(sql, [organizationId]),
  ]);
  return Object.fromEntries((await Promise.all(parts)) as [string, unknown][]);
}

describe('a chunk with events of several organizations', () => {
  it('leaves each of them what its own events leave it, whatever names they share', async () => {
    const chunks = fc.array(fc.array(sent, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(chunks, async (all) => {
        const [together, apart] = [await organizations(), await organizations()];
        let place = 0;
        for (const chunk of all) {
          const numbered = chunk.map((one) => ({ one, place: (place += 1) }));
          await processed(numbered.map((each) => arrivalOf(each.one, each.place, together)));
          for (const organization of apart.keys()) {
            const own = numbered.filter(({ one }) => one.organization === organization);
            await processed(own.map((each) => arrivalOf(each.one, each.place, apart)));
          }
        }
        for (const organization of together.keys()) {
          expect(await held(together[organization] ?? '')).toEqual(await held(apart[organization] ?? ''));
        }
      }),
      draws(12, 40),
    );
  }, 120_000);
});
