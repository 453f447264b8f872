import { AUDIT_TOPIC } from '@customer-platform/audit';
import { EXIT, runPlatform } from '@customer-platform/cli';
import { newId } from '@customer-platform/database';
import { KafkaClient, proofsOf, signerOf } from '@customer-platform/event-bus';
import { UnprovenEvent } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import {
  DatabaseFault,
  eventually,
  requiredVariable,
  serviceKeys,
  type Caller,
} from '@customer-platform/testing';
import { anAuditEntry, anAuditWorld } from '../audit-log/audit-log.fixture.js';
import { aTrack, processing, START_MS, startCore, type TestCore } from '../core.fixture.js';
import { encodeFrame, encodeRecord } from '../vocabulary/events/event-frame.js';
import { INGESTION_TOPIC } from '../ingestion/ingestion-queue.js';
import { UnreadableRecords } from '../processing/unreadable-records.js';
import { unreadableRecords } from './set-aside-records.command.js';

const keyOf = (module: string) =>
  JSON.parse(serviceKeys(module).SERVICE_PRIVATE_KEY) as Parameters<typeof signerOf>[0];
/** One module that writes events nowhere near, and a key of core that was taken out of the known ones too early. */
const BY_LOYALTY = signerOf(keyOf('loyalty'));
const BY_FORMER_KEY = signerOf({ ...keyOf('core'), kid: 'core-9' });

/** `SERVICE_PUBLIC_KEYS` with that former key. */
function withFormerKey(): string {
  const { keys } = JSON.parse(serviceKeys('core').SERVICE_PUBLIC_KEYS) as { keys: { kid: string }[] };
  const own = keys.filter(({ kid }) => kid === 'core').map((key) => ({ ...key, kid: 'core-9' }));
  return JSON.stringify({ keys: [...keys, ...own] });
}

let core: TestCore;
const before = { ...process.env };
const level = log.level;
beforeAll(async () => {
  core = await startCore();
  await processing(core);
  Object.assign(process.env, {
    DATABASE_URL: core.database.url,
    KAFKA_BROKERS: requiredVariable('TEST_KAFKA_BROKERS'),
    KAFKA_TOPIC_PREFIX: core.app.app.get(KafkaClient, { strict: false }).named(''),
    PLATFORM_MODE: 'local',
    ...serviceKeys('core'),
  });
}, START_MS);
afterEach(() => {
  log.level = level;
});
afterAll(async () => {
  process.env = before;
  await core.close();
});

/** As an operator runs it. */
async function platform(...args: string[]) {
  let [out, error] = ['', ''];
  const code = await runPlatform({
    module: 'core',
    commands: [unreadableRecords],
    args: ['unreadable-records', ...args],
    write: (text) => (out += text),
    writeError: (text) => (error += text),
  });
  return { code, out, error };
}

const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** A record as the API queues it. */
function queued(organizationId: string, externalIds: readonly string[]): Buffer {
  const receivedAt = Date.now();
  return encodeRecord(
    externalIds.map((external_id) => {
      const body = Buffer.from(JSON.stringify(aTrack({ external_id })));
      return encodeFrame({ organizationId, eventId: newId(), kind: 'track', receivedAt, body });
    }),
  );
}

let offsets = 0;

/** As its consumer sets a record aside that this key has signed. @returns its id for the commands */
async function setAside(topic: string, key: string, value: Buffer, signer = BY_LOYALTY): Promise<string> {
  const [proof] = proofsOf([{ topic, key, value }], signer);
  const offset = String((offsets += 1));
  await core.app.app
    .get(UnreadableRecords, { strict: false })
    .keep(
      topic,
      { partition: 1, offset, timestamp: Date.now(), key, value, proof },
      new UnprovenEvent(`a record of ${topic} is not proven`),
    );
  return `${topic}/1@${offset}`;
}

const waiting = async (): Promise<unknown[]> =>
  jsonLines((await platform('list', '--json')).out).map(({ id }) => id);

/** Once the broker acknowledges in time, which a busy one does not always. */
const redelivered = (...args: string[]) =>
  eventually(async () => {
    const run = await platform('redeliver', ...args);
    expect(run.error).toBe('');
    return run;
  });

const stored = async (organizationId: string): Promise<string[]> => {
  const rows = await core.database.query<{ external_id: string }>(
    'SELECT external_id FROM events WHERE organization_id = $1 ORDER BY external_id',
    [organizationId],
  );
  return rows.map((row) => row.external_id);
};

const usage = async (caller: Caller): Promise<object> => {
  const { body } = await caller.get<{ totals: { events: object } }>('/v1/core/usage');
  return body.totals.events;
};

describe('platform unreadable-records', () => {
  it('list shows what waits and why, without what it says', async () => {
    const { id: organization } = core.anOrganization();
    const id = await setAside(INGESTION_TOPIC, 'k', queued(organization, ['shown-ana', 'shown-eva']));
    const { code, out } = await platform('list', '--topic', INGESTION_TOPIC);
    expect(code).toBe(EXIT.done);
    expect(out).toContain(`${id}  `);
    expect(out).toContain(`  2 events of organization ${organization}\n`);
    expect(out).toContain('a record of core.ingestion is not proven\n');
    expect(out).not.toContain('shown-ana');
    const listed = jsonLines((await platform('list', '--json')).out).find((line) => line['id'] === id);
    expect(listed).toMatchObject({ topic: INGESTION_TOPIC, has_proof: true, organizations: [organization] });
    expect(jsonLines((await platform('list', '--json', '--topic', AUDIT_TOPIC)).out)).toEqual([]);
    expect((await platform('discard', '--id', id)).out).toBe(`discarded  ${id}\n1 discarded\n`);
    expect((await platform('discard', '--id', id)).out).toBe('0 discarded\n');
  });

  it('redeliver leaves events that are not proven, and gives them their effect once they are', async () => {
    const { id: organization, caller } = core.anOrganization();
    const id = await setAside(INGESTION_TOPIC, 'k', queued(organization, ['ana', 'eva']), BY_FORMER_KEY);
    const early = await platform('redeliver', '--id', id, '--json');
    expect(early.code).toBe(EXIT.found);
    expect(jsonLines(early.out)).toEqual([
      { id, delivered: false, error: expect.stringContaining('not known here: "core-9"') as string },
    ]);
    expect(await waiting()).toContain(id);
    const known = process.env['SERVICE_PUBLIC_KEYS'];
    process.env['SERVICE_PUBLIC_KEYS'] = withFormerKey();
    try {
      expect((await redelivered('--all')).code).toBe(EXIT.done);
    } finally {
      process.env['SERVICE_PUBLIC_KEYS'] = known;
    }
    expect(await waiting()).not.toContain(id);
    await eventually(async () => expect(await stored(organization)).toEqual(['ana', 'eva']));
    await eventually(async () => expect(await usage(caller)).toMatchObject({ stored: 2, pending: 0 }));
  });

  it('redeliver --unproven takes those that are named, and what cannot be read stays', async () => {
    const { id: organization } = core.anOrganization();
    const good = await setAside(INGESTION_TOPIC, 'k', queued(organization, ['answered']));
    const bad = await setAside(INGESTION_TOPIC, 'k', Buffer.from(`no record ${newId()}`));
    const { code, out } = await redelivered('--unproven', '--id', good, '--id', bad);
    expect(code).toBe(EXIT.found);
    expect(out).toContain(`delivered  ${good}\n`);
    expect(out).toMatch(new RegExp(`left +${bad}\\n +UnreadableRecord: `));
    expect(out).toMatch(/1 delivered, 1 left\n$/);
    await eventually(async () => expect(await stored(organization)).toEqual(['answered']));
    await platform('discard', '--id', bad);
  });

  it('redeliver appends audit rows to their log, by two at once too, and leaves what another has signed', async () => {
    const { organizationId, list } = anAuditWorld(core);
    const entries = Array.from({ length: 45 }, () => anAuditEntry(organizationId));
    const ids: string[] = [];
    for (const entry of entries)
      ids.push(await setAside(AUDIT_TOPIC, organizationId, Buffer.from(JSON.stringify(entry))));
    const { code, out } = await platform('redeliver', '--all', '--topic', AUDIT_TOPIC);
    expect(code).toBe(EXIT.found);
    expect(out).toContain('UnprovenEvent: an audit row of crm is signed by loyalty\n');
    expect(out).toMatch(/\n0 delivered, 45 left\n$/);
    expect((await list()).body.data).toEqual([]);
    const answered = ['redeliver', '--json', '--unproven', ...ids.flatMap((id) => ['--id', id])];
    const both = await Promise.all([platform(...answered), platform(...answered)]);
    expect(both.map((run) => run.code)).toEqual([EXIT.done, EXIT.done]);
    expect(both.flatMap((run) => jsonLines(run.out).map(({ id }) => id)).sort()).toEqual([...ids].sort());
    const { body } = await list('sort=seq&limit=100');
    expect(body.data.map(({ id }) => id).sort()).toEqual(entries.map(({ id }) => id).sort());
    expect(body.chain).toMatchObject({ head_seq: 45, status: 'intact' });
  });

  it('redeliver leaves a row that runs out of time, and goes on behind it', async () => {
    const [slow, other] = [anAuditWorld(core), anAuditWorld(core)];
    const ids: string[] = [];
    for (const { organizationId } of [slow, other]) {
      const value = Buffer.from(JSON.stringify(anAuditEntry(organizationId)));
      ids.push(await setAside(AUDIT_TOPIC, organizationId, value, signerOf(keyOf('crm'))));
    }
    const fault = await DatabaseFault.in(core.database, {
      table: 'audit_log',
      on: 'INSERT',
      when: `NEW.organization_id = '${slow.organizationId}'`,
      code: '57014',
    });
    const named = ids.flatMap((id) => ['--id', id]);
    try {
      const { code, out } = await platform('redeliver', ...named);
      expect(code).toBe(EXIT.found);
      expect(out).toMatch(/\n1 delivered, 1 left\n$/);
      expect((await other.list()).body.data).toHaveLength(1);
      expect((await slow.list()).body.data).toHaveLength(0);
    } finally {
      await fault.mend();
    }
    expect((await platform('redeliver', ...named)).out).toMatch(/\n1 delivered, 0 left\n$/);
    expect((await slow.list()).body.data).toHaveLength(1);
  });

  it.each([
    [['redeliver'], 'Give --all, or each --id'],
    [['redeliver', '--all', '--id', `${INGESTION_TOPIC}/0@1`], 'cannot be used with option'],
    [['redeliver', '--all', '--unproven'], 'cannot be used with option'],
    [['redeliver', '--id', 'core.domain-events/0@1'], 'It takes the id of a record'],
    [['discard'], 'required option'],
    [['list', '--topic', 'core.domain-events'], 'Allowed choices are core.ingestion, audit.entries'],
  ])('ends with 2 for %j', async (args, reason) => {
    const { code, out, error } = await platform(...args);
    expect([code, out]).toEqual([EXIT.failed, '']);
    expect(error).toContain(reason);
  });
});
