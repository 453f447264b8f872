import fc from 'fast-check';
import { Database, newId } from '@customer-platform/database';
import { eventually } from '@customer-platform/testing';
import { Client } from 'pg';
import { startCore, START_MS, type TestCore } from '../../core.fixture.js';
import {
  CONSENT_CHANNELS,
  SAID,
  type ConsentEventRow,
  type ConsentStatus,
} from '../../vocabulary/consents/consent.js';
import { aConsentWorld, aGrant, grantAhead } from './consent.fixture.js';
import { ConsentsRepository } from './consents.repository.js';

/** What is said in a history; times are steps of a clock. */
interface Saying {
  purpose: string;
  channel: string | null;
  status: (typeof SAID)[number];
  at: number;
  lasts: number | null;
}

const START = Date.UTC(2026, 0, 1);
const STEP_MS = 3_600_000;
const instant = (step: number): Date => new Date(START + step * STEP_MS);

const saying: fc.Arbitrary<Saying> = fc.record({
  purpose: fc.constantFrom('marketing', 'custom.vip'),
  channel: fc.constantFrom(null, 'email', 'sms'),
  status: fc.constantFrom(...SAID),
  // Few instants, so that many collide.
  at: fc.integer({ min: 0, max: 5 }),
  lasts: fc.option(fc.integer({ min: 1, max: 4 })),
});

/** core.md §5 in the plainest words, one rule after the other. */
function naive(history: readonly Saying[], now: number): Record<string, ConsentStatus> {
  const heard = history.filter(({ at }) => at <= now);
  const result: Record<string, ConsentStatus> = {};
  for (const { purpose, channel } of heard) {
    const about = heard.filter(
      (one) => one.purpose === purpose && (one.channel === null || one.channel === channel),
    );
    const latest = Math.max(...about.map(({ at }) => at));
    const heldAtOnce = about
      .filter(({ at }) => at === latest)
      .map((one): ConsentStatus =>
        one.status === 'granted' && one.lasts !== null && one.at + one.lasts <= now ? 'expired' : one.status,
      );
    const strictest = (['withdrawn', 'denied', 'expired', 'granted'] as const).find((status) =>
      heldAtOnce.includes(status),
    );
    if (strictest) result[`${purpose} ${channel ?? '*'}`] = strictest;
  }
  return result;
}

function rowOf(contactId: string, organizationId: string, said: Saying): ConsentEventRow {
  const ends = said.status === 'granted' && said.lasts !== null;
  return {
    id: newId(),
    contact_id: contactId,
    purpose: said.purpose,
    channel: said.channel,
    status: said.status,
    notice_version: '1',
    notice_hash: null,
    method: 'form',
    legal_basis: 'consent',
    jurisdiction: null,
    evidence: null,
    pii_categories: [],
    recipients: [],
    storage_locations: [],
    retention: null,
    withdrawal_method: null,
    expires_at: ends ? instant(said.at + (said.lasts ?? 0)) : null,
    occurred_at: instant(said.at),
    controller: organizationId,
    actor_type: 'system',
    actor_id: 'test',
    impersonator_id: null,
    correlation_id: newId(),
    recorded_at: new Date(),
  };
}

let core: TestCore;
beforeAll(async () => {
  core = await startCore();
}, START_MS);
afterAll(() => core.close());

describe('what holds, against the rules in plain words', () => {
  it('is the same for any history, at any instant', async () => {
    const database = core.app.app.get(Database);
    const consents = core.app.app.get(ConsentsRepository);
    const { organizationId } = await aConsentWorld(core);
    await fc.assert(
      fc.asyncProperty(
        fc.array(saying, { maxLength: 12 }),
        fc.integer({ min: -1, max: 10 }),
        async (history, now) => {
          const contactId = newId();
          await core.database.query(
            `INSERT INTO contacts (organization_id, id, source) VALUES ($1, $2, 'api')`,
            [organizationId, contactId],
          );
          await database.inOrganization({ organizationId }, async (tx) => {
            for (const said of history) {
              await consents.append(tx, [rowOf(contactId, organizationId, said)], new Date());
            }
            const states = await consents.allStates(tx, [contactId], instant(now));
            const found = states.map((state) => [`${state.purpose} ${state.channel ?? '*'}`, state.status]);
            const expected = naive(history, now);
            expect(Object.fromEntries(found)).toEqual(expected);
            for (const purpose of ['marketing', 'custom.vip']) {
              for (const channel of [null, 'email', 'sms']) {
                const pair = `${purpose} ${channel ?? '*'}`;
                const one = await consents.stateOf(tx, [contactId], { purpose, channel }, instant(now));
                // A channel that was never named follows what is about all.
                expect(one?.status).toBe(expected[pair] ?? expected[`${purpose} *`]);
              }
            }
          });
        },
      ),
      { numRuns: 300 },
    );
  }, 120_000);

  it('knows the channels of the catalog', async () => {
    const caller = core.app.as(core.anOrganization().id, ['core.catalogs.read']);
    const { body } = await caller.get<{ data: { code: string }[] }>('/v1/core/notification-channels');
    expect(body.data.map(({ code }) => code)).toEqual([...CONSENT_CHANNELS]);
  });
});

describe('the table of consents', () => {
  it('takes no change, whoever asks', async () => {
    const world = await aConsentWorld(core);
    expect((await world.caller.post(world.path, aGrant())).status).toBe(201);
    for (const sql of [
      `UPDATE consent_events SET status = 'granted'`,
      'DELETE FROM consent_events',
      'TRUNCATE consent_events',
    ]) {
      await expect(core.database.query(sql)).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('keeps a contact with consents from being removed', async () => {
    const world = await aConsentWorld(core);
    expect((await world.caller.post(world.path, aGrant())).status).toBe(201);
    await expect(
      core.database.query('DELETE FROM contacts WHERE organization_id = $1 AND id = $2', [
        world.organizationId,
        world.contactId,
      ]),
    ).rejects.toMatchObject({ code: '23503', constraint: 'consent_events_contact' });
  });
});

describe('what is said without a time', () => {
  it('holds, though a process whose clock goes ahead has recorded something just now', async () => {
    const world = await aConsentWorld(core);
    const ahead = await grantAhead(core, world);
    const withdrawal = { purpose: 'marketing', status: 'withdrawn' };
    const { body } = await world.caller.post<{ occurred_at: string }>(world.path, withdrawal);
    const said = Date.parse(body.occurred_at);
    expect(said).toBeGreaterThan(ahead.getTime());
    await eventually(() => expect(Date.now()).toBeGreaterThan(said));
    const states = await world.caller.get<{ data: { status: string }[] }>(world.path);
    expect(states.body.data.map(({ status }) => status)).toEqual(['withdrawn']);
  });

  it('was said, and recorded, when the contact was free for it', async () => {
    const { organizationId, contactId, caller, path } = await aConsentWorld(core);
    const other = new Client({ connectionString: core.database.adminUrl });
    await other.connect();
    await other.query('BEGIN');
    const lock = 'SELECT 1 FROM contacts WHERE organization_id = $1 AND id = $2 FOR UPDATE';
    await other.query(lock, [organizationId, contactId]);
    const saying = caller.post<Record<string, string>>(path, { purpose: 'marketing', status: 'withdrawn' });
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await eventually(async () => expect(await core.database.query(waiting)).not.toEqual([]));
    const free = new Date();
    await other.query('COMMIT');
    await other.end();
    const { occurred_at: said, recorded_at: recorded } = (await saying).body;
    expect([said, recorded].map((at) => new Date(String(at)) >= free)).toEqual([true, true]);
  });
});
