import { Database, DatabaseUnavailable, newId } from '@customer-platform/database';
import { RecordConsumers } from '@customer-platform/event-bus';
import { DatabaseFault, eventually, type Caller } from '@customer-platform/testing';
import { accepted, aTrack, startCore, type TestCore, processing, START_MS } from '../core.fixture.js';
import { encodeFrame, encodeRecord } from '../vocabulary/events/event-frame.js';
import { QueuePositions } from '../processing/queue-positions.js';
import { AcceptanceCounter } from './acceptance-counter.js';
import type { UsageDto } from './usage.dto.js';

describe('GET /v1/core/usage', () => {
  let core: TestCore;
  beforeAll(async () => {
    core = await startCore();
    await processing(core);
  }, START_MS);
  afterAll(() => core.close());

  const today = (): string => new Date().toISOString().slice(0, 10);
  const read = async (caller: Caller, query = '') =>
    (await caller.get<UsageDto>(`/v1/core/usage${query}`)).body;

  it('shows the last 30 days, each of them, and counts today at once', async () => {
    const { caller } = core.anOrganization();
    await accepted(caller, aTrack({ external_id: 'ana', occurred_at: '2001-01-01T00:00:00Z' }));
    const first = await read(caller);
    expect(first.data).toHaveLength(30);
    expect(first.totals.events.accepted).toBe(1);
    const usage = await eventually(async () => {
      const now = await read(caller);
      expect(now.totals.events.pending).toBe(0);
      return now;
    });
    // An event counts on the day on which it was accepted, whenever it happened.
    expect(usage.data.at(-1)).toMatchObject({
      period_start: today(),
      period_end: today(),
      events: { accepted: 1, stored: 1, duplicates: 0, dead_lettered: 0, pending: 0, erased: 0, refused: 0 },
      contacts: { active: 1, created: 1, merged: 0, erased: 0 },
    });
    expect(usage.data[0]).toMatchObject({ events: { accepted: 0 }, contacts: { active: 0, created: 0 } });
    expect(usage.totals.contacts).toEqual({ active: 1, created: 1, merged: 0, erased: 0 });
  });

  it('sums by month and carries active contacts on', async () => {
    const { id, caller } = core.anOrganization();
    await core.database.query(
      `INSERT INTO usage_days (organization_id, day, partition, consumed, stored, duplicates, contacts_created, contacts_deleted)
       VALUES ($1, '2025-11-30', 0, 5, 5, 0, 4, 0), ($1, '2025-12-01', 0, 3, 2, 1, 2, 1),
              ($1, '2025-12-31', 1, 2, 2, 0, 0, 0), ($1, '2026-01-01', -1, 0, 0, 0, 0, 1)`,
      [id],
    );
    await core.database.query(
      `INSERT INTO usage_acceptances (organization_id, day, partition, counted) VALUES ($1, '2025-12-01', 0, 7)`,
      [id],
    );
    await core.database.query(`INSERT INTO usage_refusals VALUES ($1, '2025-12-15', 9)`, [id]);
    const usage = await read(caller, '?from=2025-12-01&to=2026-01-15&granularity=month');
    expect(usage.data).toMatchObject([
      {
        period_start: '2025-12-01',
        period_end: '2025-12-31',
        events: { accepted: 9, stored: 4, duplicates: 1, pending: 4, refused: 9 },
        contacts: { active: 5, created: 2 },
      },
      {
        period_start: '2026-01-01',
        period_end: '2026-01-15',
        events: { accepted: 0 },
        contacts: { active: 4 },
      },
    ]);
    expect(usage.totals).toMatchObject({ events: { accepted: 9 }, contacts: { active: 4, created: 2 } });
  });

  it('counts once what was owed and is committed, though nobody learns of the commit', async () => {
    const [a, b] = [newId(), newId()];
    const app = core.app.app;
    const database = app.get(Database, { strict: false });
    let [now, isLost] = [Date.now(), false];
    const losing = Object.create(database, {
      acrossOrganizations: {
        value: async (...unit: Parameters<Database['acrossOrganizations']>) => {
          const result = await database.acrossOrganizations(...unit);
          if (isLost) throw new DatabaseUnavailable(new Error('the answer is lost'));
          return result;
        },
      },
    }) as Database;
    const get = { strict: false } as const;
    const counter = new AcceptanceCounter(
      app.get(RecordConsumers, get),
      losing,
      app.get(QueuePositions, get),
      { now: () => new Date(now) },
    );
    /** A record of a partition that nobody else reads. */
    const record = (offset: string, ...of: string[]) => {
      const frame = { kind: 'track', receivedAt: now, body: Buffer.from('{}') } as const;
      const value = encodeRecord(
        of.map((organizationId) => encodeFrame({ organizationId, eventId: newId(), ...frame })),
      );
      return { partition: 900, offset, timestamp: now, key: 'k', value };
    };
    const fail = (...ids: string[]) =>
      DatabaseFault.in(core.database, {
        table: 'usage_acceptances',
        on: 'INSERT',
        when: `NEW.organization_id IN (${ids.map((id) => `'${id}'`).join(', ')})`,
      });
    const both = await fail(a, b);
    await counter['add']([record('0', a, a, a, b)]);
    await both.mend();
    now += 60_000;
    const one = await fail(b);
    const second = record('1', a, a);
    isLost = true;
    await expect(counter['add']([second])).rejects.toThrow(DatabaseUnavailable);
    isLost = false;
    await one.mend();
    now += 60_000;
    // As it comes again.
    await counter['add']([second]);
    const counted = await core.database.query(
      `SELECT organization_id AS id, sum(counted)::int AS counted FROM usage_acceptances
        WHERE organization_id = ANY($1) GROUP BY organization_id`,
      [[a, b]],
    );
    expect(new Map(counted.map(({ id, counted: sum }) => [id, sum]))).toEqual(
      new Map([
        [a, 5],
        [b, 1],
      ]),
    );
  });

  it.each([
    ['?from=2026-02-30', 'from'],
    ['?from=yesterday', 'from'],
    ['?from=2026-02-01&to=2026-01-01', 'from'],
    ['?from=2025-01-01&to=2026-02-05', 'from'],
    ['?to=0000-01-01', 'to'],
    ['?from=9999-12-31', 'from'],
    ['?granularity=hour', 'granularity'],
  ])('400 for %s', async (query, parameter) => {
    const answer = await core.anOrganization().caller.get(`/v1/core/usage${query}`);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ parameter }] } });
  });

  it('takes the first and the last day that there are', async () => {
    const { caller } = core.anOrganization();
    expect((await read(caller, '?to=1970-01-02')).data).toHaveLength(2);
    expect((await read(caller, '?from=2999-12-31')).data).toHaveLength(1);
  });

  it('takes 400 days, and knows no other parameter', async () => {
    const { caller } = core.anOrganization();
    expect((await read(caller, '?from=2025-01-01&to=2026-02-04')).data).toHaveLength(400);
    expect(await caller.get('/v1/core/usage?form=2025-01-01')).toMatchObject({
      status: 400,
      body: { code: 'unknown_parameter' },
    });
  });

  it('403 without the permission', async () => {
    const answer = await core.app.as(newId(), ['core.events.write']).get('/v1/core/usage');
    expect(answer).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  });
});
