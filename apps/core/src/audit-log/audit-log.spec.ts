import { createHash } from 'node:crypto';
import { jest } from '@jest/globals';
import canonicalize from 'canonicalize';
import { AUDIT_TOPIC, type AuditEntry } from '@customer-platform/audit';
import { Clock, Database, newId } from '@customer-platform/database';
import {
  LeftForLater,
  RecordConsumers,
  RecordProducer,
  type IncomingRecord,
} from '@customer-platform/event-bus';
import { PERMISSIONS } from '@customer-platform/permissions';
import { behindLock, DatabaseFault, eventually, proofBy } from '@customer-platform/testing';
import { aConsentWorld, aGrant } from '../people/consents/consent.fixture.js';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import { UnreadableRecords } from '../processing/unreadable-records.js';
import { AuditLogConsumer } from './audit-log.consumer.js';
import type { AuditEntryDto, AuditLogDto } from './audit-log.dto.js';
import { anAuditEntry, anAuditWorld, publishAudit, type AuditWorld } from './audit-log.fixture.js';
import { AuditLogRepository } from './audit-log.repository.js';

const ZEROS = '0'.repeat(64);
/** What a test need not wait for: joining the consumer group takes seconds. */
const SETTLED = { within: 30_000 };

let core: TestCore;
let world: AuditWorld;

beforeAll(async () => {
  core = await startCore();
  // The consumer has joined its group once the first row is there.
  await anAuditWorld(core).fill(1);
}, START_MS);
afterAll(() => core.close());
beforeEach(() => {
  world = anAuditWorld(core);
});

const oldestFirst = async (caller = world.caller): Promise<AuditEntryDto[]> =>
  (await caller.get<AuditLogDto>('/v1/core/audit-log?sort=seq&limit=200')).body.data;

/** core.md §11 in the words of the page, with what any client sees. */
function expectChain(rows: AuditEntryDto[]): void {
  let previous = ZEROS;
  for (const [at, { prev_hash, hash, ...row }] of rows.entries()) {
    expect([row.seq, prev_hash]).toEqual([at + 1, previous]);
    const text = canonicalize(row) ?? '';
    const own = createHash('sha256').update(Buffer.from(prev_hash, 'hex')).update(text).digest('hex');
    expect(hash).toBe(own);
    previous = hash;
  }
}

describe('the audit log', () => {
  it('has an act of core, at its place in the chain', async () => {
    const consents = await aConsentWorld(core);
    const reader = core.app.as(consents.organizationId, ['core.audit.read']);
    const correlation = newId();
    const said = await consents.caller.post<{ id: string }>(consents.path, aGrant(), {
      'x-correlation-id': correlation,
      'user-agent': 'jest/é',
    });
    await eventually(async () => expect(await oldestFirst(reader)).toHaveLength(1));
    const [row] = await oldestFirst(reader);
    expect(row).toMatchObject({
      seq: 1,
      actor: { type: 'api_key', impersonator_id: null },
      action: 'core.consents.write',
      module: 'core',
      resource: { type: 'consents', id: said.body.id },
      outcome: 'success',
      changed_fields: ['purpose', 'channel', 'status'],
      correlation_id: correlation,
      reason: null,
      prev_hash: ZEROS,
    });
    expectChain(row ? [row] : []);
  });

  it('has the acts of other modules as they came, each once however often it comes', async () => {
    const entries = Array.from({ length: 20 }, (_, at) =>
      anAuditEntry(world.organizationId, {
        outcome: at % 2 ? 'success' : 'denied',
        reason: at % 3 ? 'Ñandú “quoted” 😀' : null,
      }),
    );
    const values = entries.map((entry) => JSON.stringify(entry));
    await publishAudit(core, world.organizationId, [...values, ...values.slice(3, 9)]);
    await publishAudit(core, world.organizationId, values);
    const last = anAuditEntry(world.organizationId);
    await publishAudit(core, world.organizationId, [JSON.stringify(last)]);
    await eventually(async () => expect((await oldestFirst()).at(-1)?.id).toBe(last.id), SETTLED);
    const rows = await oldestFirst();
    expect(rows.map(({ id }) => id)).toEqual([...entries, last].map(({ id }) => id));
    expect(rows[1]).toMatchObject({ outcome: 'success', reason: 'Ñandú “quoted” 😀', module: 'crm' });
    expectChain(rows);
    const { chain } = (await world.list()).body;
    expect(chain).toMatchObject({ head_seq: 21, head_hash: rows.at(-1)?.hash, status: 'intact' });
  });

  it('sets aside what is no audit row, and goes on', async () => {
    const broken = anAuditEntry(world.organizationId, { reason: '\ud800' });
    const good = anAuditEntry(world.organizationId, { correlation_id: newId().toUpperCase() });
    await publishAudit(core, world.organizationId, ['{', JSON.stringify(broken), JSON.stringify(good)]);
    await eventually(async () => expect(await oldestFirst()).toHaveLength(1), SETTLED);
    expectChain(await oldestFirst());
    const kept = await core.database.query<{ value: Buffer }>(
      `SELECT value FROM unreadable_records WHERE topic LIKE '%audit.entries'`,
    );
    expect(kept.map(({ value }) => value.toString())).toEqual(
      expect.arrayContaining(['{', JSON.stringify(broken)]),
    );
  });

  it('sets aside a row that another module has signed', async () => {
    const record = (of: AuditEntry) => ({
      topic: AUDIT_TOPIC,
      key: world.organizationId,
      value: JSON.stringify(of),
    });
    const [invented, own] = [anAuditEntry(world.organizationId), anAuditEntry(world.organizationId)];
    const producer = core.app.app.get(RecordProducer);
    const forged = record(invented);
    await eventually(() => producer.send(AUDIT_TOPIC, { ...forged, headers: proofBy('loyalty', forged) }));
    await publishAudit(core, world.organizationId, [record(own).value]);
    await eventually(async () => expect(await oldestFirst()).toHaveLength(1), SETTLED);
    expect((await oldestFirst()).map(({ id }) => id)).toEqual([own.id]);
    const kept = await core.database.query<{ value: Buffer; error: string }>(
      `SELECT value, error FROM unreadable_records WHERE error LIKE '%signed by%'`,
    );
    expect(kept.map(({ value }) => value.toString())).toContain(forged.value);
    expect(kept[0]?.error).toBe('an audit row of crm is signed by loyalty');
  });

  it('is empty, and says so, where nothing was done', async () => {
    expect((await world.list()).body).toEqual({
      data: [],
      page: { limit: 50, next_cursor: null },
      chain: {
        head_seq: 0,
        head_hash: ZEROS,
        status: 'intact',
        broken_at_seq: null,
        verified_at: null,
        verified_seq: null,
        checkpoint: null,
      },
    });
  });

  it('dates a row when the chain was free for it, so that times go up with places', async () => {
    await world.fill(1);
    const { organizationId } = world;
    const sql = 'SELECT FROM audit_chains WHERE organization_id = $1 FOR UPDATE';
    const clock = jest.spyOn(core.app.app.get(Clock), 'now');
    const later = new Date(Date.now() + 60_000);
    try {
      await behindLock(
        core.database,
        { sql, values: [organizationId] },
        () => world.fill(1),
        () => clock.mockReturnValue(later),
      );
    } finally {
      clock.mockRestore();
    }
    expect((await oldestFirst()).at(-1)).toMatchObject({ seq: 2, created_at: later.toISOString() });
  });

  it('takes no change, whoever asks', async () => {
    await world.fill(1);
    for (const sql of ['UPDATE audit_log SET seq = seq', 'DELETE FROM audit_log', 'TRUNCATE audit_log'])
      await expect(core.database.query(sql)).rejects.toMatchObject({ code: '42501' });
  });
});

const outOfTime = { table: 'audit_log', on: 'INSERT', code: '57014' } as const;
const OWN = ({ organizationId }: AuditWorld): string => `NEW.organization_id = '${organizationId}'`;

let places = 8_000_000;

/** As they come off a partition that nobody reads. */
function recordsOf(entries: readonly AuditEntry[]): IncomingRecord[] {
  return entries.map((entry) => ({
    partition: 900,
    offset: String((places += 1)),
    key: entry.organization_id,
    value: Buffer.from(JSON.stringify(entry)),
    timestamp: 0,
  }));
}

/** One that no record comes to but those of the test. */
function aConsumer(): AuditLogConsumer {
  const app = core.app.app;
  const get = { strict: false } as const;
  return new AuditLogConsumer(
    app.get(RecordConsumers, get),
    app.get(Database, get),
    app.get(AuditLogRepository, get),
    app.get(UnreadableRecords, get),
    app.get(Clock, get),
  );
}

/** Gives it these, as they come again, beside rows of others. @returns whether it took them all in the end */
async function takenAgain(consumer: AuditLogConsumer, records: readonly IncomingRecord[]): Promise<boolean> {
  for (let takes = 0; takes < 10; takes += 1) {
    const taken = await consumer.take(records).then(
      () => true,
      () => false,
    );
    if (taken) return true;
    await consumer.take(recordsOf([anAuditEntry(anAuditWorld(core).organizationId)]));
  }
  return false;
}

/** Which of these are. */
async function setAside(records: readonly IncomingRecord[]): Promise<unknown[]> {
  return core.database.query(
    'SELECT record_offset FROM unreadable_records WHERE partition = 900 AND record_offset = ANY($1::bigint[])',
    [records.map(({ offset }) => offset)],
  );
}

/** An organization whose rows come to the partition of another's. */
function anAuditWorldBeside({ organizationId }: AuditWorld): AuditWorld {
  const partitionOf = (key: string): number => core.app.app.get(RecordProducer).partitionOf(AUDIT_TOPIC, key);
  for (let tries = 0; tries < 1_000; tries += 1) {
    const other = anAuditWorld(core);
    if (partitionOf(other.organizationId) === partitionOf(organizationId)) return other;
  }
  throw new Error('No organization came to the same partition');
}

describe('rows that run out of time', () => {
  it('let those behind them go on', async () => {
    const stalled = anAuditWorld(core);
    const behind = anAuditWorldBeside(stalled);
    const [first, second] = [anAuditEntry(stalled.organizationId), anAuditEntry(stalled.organizationId)];
    const fault = await DatabaseFault.in(core.database, { ...outOfTime, when: OWN(stalled) });
    try {
      await publishAudit(core, stalled.organizationId, [JSON.stringify(first)]);
      await eventually(async () => expect(await fault.tries()).toBeGreaterThan(0), SETTLED);
      await publishAudit(core, stalled.organizationId, [JSON.stringify(second)]);
      const other = JSON.stringify(anAuditEntry(behind.organizationId));
      await publishAudit(core, behind.organizationId, [other]);
      await eventually(async () => expect((await behind.list()).body.chain.head_seq).toBe(1), {
        within: 120_000,
      });
    } finally {
      await fault.mend();
    }
    await eventually(async () => expect(await oldestFirst(stalled.caller)).toHaveLength(2), SETTLED);
    const rows = await oldestFirst(stalled.caller);
    // Mended between two rows of a pass, it lets the later one through first.
    expect(rows.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());
    expectChain(rows);
  }, 240_000);

  it('takes all rows in their order in the end, and sets none aside, where no append came through for a while', async () => {
    const other = anAuditWorld(core);
    const fault = await DatabaseFault.in(core.database, { ...outOfTime, when: OWN(other) });
    const entries = Array.from({ length: 3 }, () => anAuditEntry(other.organizationId));
    const records = recordsOf(entries);
    const consumer = aConsumer();
    for (let takes = 0; takes < 5; takes += 1)
      await expect(consumer.take(records)).rejects.toBeInstanceOf(LeftForLater);
    await fault.mend();
    await consumer.take(records);
    expect(await setAside(records)).toEqual([]);
    expect((await oldestFirst(other.caller)).map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
  });

  it('takes each row that can be appended, whatever runs out of time before it', async () => {
    const other = anAuditWorld(core);
    const fault = await DatabaseFault.in(core.database, {
      ...outOfTime,
      when: `${OWN(other)} AND NEW.action = 'crm.notes.purge'`,
    });
    const bad = new Set([0, 1, 2, 3, 4, 5, 7]);
    const entries = Array.from({ length: 26 }, (_, at) =>
      anAuditEntry(other.organizationId, { action: `crm.notes.${bad.has(at) ? 'purge' : 'update'}` }),
    );
    const records = recordsOf(entries);
    const consumer = aConsumer();
    const ends = await takenAgain(consumer, records);
    await fault.mend();
    expect(ends).toBe(true);
    const { body } = await other.list('limit=100');
    const good = entries.filter((_, at) => !bad.has(at));
    expect(body.data.map(({ id }) => id).sort()).toEqual(good.map(({ id }) => id).sort());
    expect(await setAside(records)).toHaveLength(bad.size);
  });

  it('remembers what a row has come to where it cannot be set aside', async () => {
    const other = anAuditWorld(core);
    const fault = await DatabaseFault.in(core.database, { ...outOfTime, when: OWN(other) });
    const full = await DatabaseFault.in(core.database, {
      table: 'unreadable_records',
      on: 'INSERT',
      when: `NEW.topic LIKE '%${AUDIT_TOPIC}'`,
      code: '53100',
      times: 1,
    });
    const records = recordsOf([anAuditEntry(other.organizationId)]);
    const consumer = aConsumer();
    for (let takes = 0; takes < 3; takes += 1) {
      await expect(consumer.take(records)).rejects.toBeInstanceOf(Error);
      // As rows of others come.
      await consumer.take(recordsOf([anAuditEntry(anAuditWorld(core).organizationId)]));
    }
    expect(await full.tries()).toBe(1);
    await full.mend();
    await consumer.take(records);
    await fault.mend();
    expect(await setAside(records)).toHaveLength(1);
  });
});

describe('GET /v1/core/audit-log as a list', () => {
  it('filters, and walks every row once, the latest first', async () => {
    const [first, second] = await world.fill(7);
    const ids = async (query: string) => (await world.list(query)).body.data.map(({ id }) => id);
    expect(await ids(`resource_id=${first?.resource.id ?? ''}`)).toEqual([first?.id]);
    expect(await ids(`actor_id=${second?.actor.id ?? ''}&module=crm&resource_type=notes`)).toEqual([
      second?.id,
    ]);
    expect(await ids(`correlation_id=${second?.correlation_id ?? ''}`)).toEqual([second?.id]);
    expect(await ids('seq[gte]=3&seq[lt]=6&action=crm.notes.update')).toHaveLength(3);
    expect(await ids('outcome=denied')).toEqual([]);
    expect(await ids('occurred_at[gt]=2026-01-15T12:00:00Z')).toEqual([]);
    const walked: number[] = [];
    let cursor = '';
    do {
      const { body } = await world.list(`limit=3${cursor}`);
      walked.push(...body.data.map(({ seq }) => seq));
      cursor = body.page.next_cursor === null ? '' : `&cursor=${body.page.next_cursor}`;
    } while (cursor);
    expect(walked).toEqual([7, 6, 5, 4, 3, 2, 1]);
  });

  it.each([
    ['colour=red', 'unknown_parameter'],
    ['outcome=perhaps', 'invalid_filter'],
    ['seq=first', 'invalid_filter'],
    ['sort=occurred_at', 'invalid_sort'],
    ['limit=0', 'invalid_limit'],
    ['cursor=x', 'invalid_cursor'],
  ])('400 for ?%s: %s', async (query, code) => {
    expect(await world.list(query)).toMatchObject({ status: 400, body: { code } });
  });

  it('shows an organization its own rows only', async () => {
    await world.fill(2);
    const other = anAuditWorld(core);
    expect((await other.list()).body).toMatchObject({ data: [], chain: { head_seq: 0 } });
  });

  it('needs exactly core.audit.read', async () => {
    const rest = PERMISSIONS.filter((name) => name !== 'core.audit.read');
    const answer = await core.app.as(world.organizationId, rest).get('/v1/core/audit-log');
    expect(answer).toMatchObject({
      status: 403,
      body: { code: 'permission_denied', permission: 'core.audit.read' },
    });
  });

  it('cannot be changed by any call', async () => {
    const all = core.app.as(world.organizationId, PERMISSIONS);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect(await all.call(method, '/v1/core/audit-log')).toMatchObject({ status: 405 });
  });
});
