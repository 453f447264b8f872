import { randomBytes, randomUUID } from 'node:crypto';
import { Controller, Module } from '@nestjs/common';
import type { Keyring } from '@customer-platform/config';
import {
  DatabaseModule,
  execute,
  installationTable,
  KeySeal,
  newId,
  parkedProofs,
  platformTables,
  rowSecurity,
  signingKeysTable,
  type SealedColumn,
} from '@customer-platform/database';
import { EventBusModule, OnEvent } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import { requiredVariable, serviceKeys, testDatabase, type TestDatabase } from '@customer-platform/testing';
import {
  deadLetters,
  installation,
  kafka,
  migrate,
  runPlatform,
  secrets,
  signingKeys,
} from '../src/index.js';

type QueryRunner = Parameters<typeof execute>[0];

class CreateTables1700000000000 {
  up(runner: QueryRunner): Promise<void> {
    return execute(runner, [
      ...platformTables(),
      ...installationTable(),
      ...parkedProofs(),
      ...signingKeysTable(),
      `CREATE TABLE secrets (organization_id uuid NOT NULL, id uuid NOT NULL, secret text,
         PRIMARY KEY (organization_id, id))`,
      ...rowSecurity('secrets', { worker: true }),
    ]);
  }

  down(runner: QueryRunner): Promise<void> {
    return execute(runner, ['DROP TABLE secrets, signing_keys']);
  }
}

class AddNotes1700000001000 {
  up(runner: QueryRunner): Promise<void> {
    return execute(runner, ['CREATE TABLE notes (id uuid PRIMARY KEY)']);
  }

  down(runner: QueryRunner): Promise<void> {
    return execute(runner, ['DROP TABLE notes']);
  }
}

/** What a programmer's mistake keeps from being processed, until it is put right. */
const mistakes = new Set<string>();
const taken: string[] = [];

@Controller()
class Consents {
  @OnEvent('core.consent.recorded.v1')
  take(events: DomainEvent<'core.consent.recorded.v1'>[]): Promise<void> {
    for (const { data } of events) {
      if (mistakes.has(data.purpose)) throw new TypeError('a mistake');
      taken.push(data.purpose);
    }
    return Promise.resolve();
  }
}

@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'core', entities: [], migrations: [] }),
    EventBusModule.forRoot({ module: 'core' }),
  ],
  controllers: [Consents],
})
class Root {}

const [root, first, second] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const former: Keyring = { root, sealing: [{ id: '1', key: first }] };

const column = (keyring: Keyring): SealedColumn<string> => ({
  table: 'secrets',
  column: 'secret',
  key: ['organization_id', 'id'],
  type: 'text',
  renew: ({ id = '', content }) => new KeySeal(keyring, 'secrets').renew(id, content),
});

const before = { ...process.env };
const level = log.level;
let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('core', [CreateTables1700000000000]);
  Object.assign(process.env, {
    DATABASE_URL: database.url,
    DATABASE_OWNER_URL: database.ownerUrl,
    KAFKA_BROKERS: requiredVariable('TEST_KAFKA_BROKERS'),
    KAFKA_TOPIC_PREFIX: `cli-${randomBytes(5).toString('hex')}.`,
    PLATFORM_MODE: 'local',
    ...serviceKeys('core'),
    ENCRYPTION_KEY: root.toString('base64'),
    ENCRYPTION_KEYS: `2:${second.toString('base64')},1:${first.toString('base64')}`,
  });
});
afterAll(async () => {
  process.env = before;
  log.level = level;
  await database.drop();
});

/** The program of a module, as an operator runs it. */
async function platform(...args: string[]) {
  let [out, error] = ['', ''];
  const code = await runPlatform({
    module: 'core',
    commands: [
      migrate([CreateTables1700000000000, AddNotes1700000001000]),
      deadLetters(() => Promise.resolve(Root)),
      installation(),
      kafka(() => Promise.resolve(Root)),
      secrets((keyring) => [column(keyring)]),
      signingKeys({ purpose: 'member_tokens', lifeMinutes: 15 }),
    ],
    args,
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

describe('platform migrate', () => {
  it('brings the database to the newest schema, and finds nothing to do after it', async () => {
    const ran = await platform('migrate', '--json');
    expect([ran.code, JSON.parse(ran.out)]).toEqual([
      0,
      { module: 'core', migrations: ['AddNotes1700000001000'] },
    ]);
    expect(await platform('migrate')).toEqual({ code: 0, out: 'core: 0 migrations\n', error: '' });
  });

  it('says in one sentence which variable is missing', async () => {
    const { DATABASE_OWNER_URL: url } = process.env;
    delete process.env['DATABASE_OWNER_URL'];
    const { code, error } = await platform('migrate');
    process.env['DATABASE_OWNER_URL'] = url;
    expect([code, error]).toEqual([2, expect.stringContaining('DATABASE_OWNER_URL')]);
  });
});

describe('platform secrets reencrypt', () => {
  it('prints what it did, and ends with 1 where something does not open', async () => {
    const ids = [newId(), newId(), newId()];
    for (const id of ids) {
      const sealed = new KeySeal(former, 'secrets').seal(id, `secret of ${id}`);
      await database.query('INSERT INTO secrets VALUES ($1, $2, $3)', [randomUUID(), id, sealed]);
    }
    const { code, out } = await platform('secrets', 'reencrypt', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      module: 'core',
      columns: [{ column: 'secrets.secret', rows: 3, reencrypted: 3, changed_meanwhile: 0, unreadable: 0 }],
    });
    await database.query('UPDATE secrets SET secret = $1 WHERE id = $2', ['v2.gone.a.b.c', ids[0]]);
    expect(await platform('secrets', 'reencrypt')).toEqual({
      code: 1,
      out: 'core  secrets.secret  3 rows, 0 re-encrypted, 1 UNREADABLE\n',
      error: '',
    });
  });
});

describe('platform signing-keys', () => {
  const keys = (...args: string[]) => platform('signing-keys', ...args);
  const make = async (): Promise<string> => {
    const { out } = await keys('rotate', '--after', '0', '--json');
    return (JSON.parse(out) as { made: string }).made;
  };

  it('lists, makes and retires them', async () => {
    const made = await make();
    // As if it had been made a minute ago.
    await database.query(`UPDATE signing_keys SET usable_from = usable_from - interval '1 minute'`);
    const next = await make();
    const { code, out } = await keys('list');
    expect(code).toBe(0);
    expect(out.trim().split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^verifying  ${made}  from `)),
      expect.stringMatching(new RegExp(`^signing    ${next}  from `)),
    ]);
    expect(await keys('retire', next)).toEqual({ code: 0, out: `Retired ${next}\n`, error: '' });
    expect((await keys('retire', made)).code).toBe(2); // nothing else would sign
    expect(await keys('retire', next)).toEqual({ code: 2, out: '', error: `There is no key ${next}.\n` });
    const { out: listed } = await keys('list', '--json');
    expect((JSON.parse(listed) as { keys: unknown[] }).keys).toHaveLength(1);
  });

  it('takes a kid that begins with a dash, and refuses what is none', async () => {
    const kid = `-${'h'.repeat(42)}`;
    expect(await keys('retire', kid)).toEqual({ code: 2, out: '', error: `There is no key ${kid}.\n` });
    expect(await keys('retire', 'short')).toMatchObject({ code: 2, out: '' });
    expect((await keys('rotate', '--after', 'soon')).error).toContain('It takes whole seconds.');
    expect((await keys('retire', '--help')).out).toContain('Tokens live 15 minutes');
  });
});

describe('platform kafka acls', () => {
  const topic = 'core.domain-events';

  it('is commands of Kafka’s own tool, for whom the brokers know the module by', async () => {
    const { code, out } = await platform('kafka', 'acls', '--user', "o'core");
    expect(code).toBe(0);
    const [first = '', ...more] = out.trimEnd().split('\n');
    expect(first).toMatch(
      /^kafka-acls.sh --bootstrap-server "\$BROKERS" --command-config "\$ADMIN_PROPERTIES" --add /,
    );
    expect(first).toContain(String.raw`--allow-principal 'User:o'\''core' --operation Create`);
    expect(first).toMatch(/ --operation Read --operation Write --topic '[\w.-]*core.domain-events'$/);
    expect(more.at(-2)).toMatch(/ --group '[\w.-]*core.reader-' --resource-pattern-type prefixed$/);
    expect(more.at(-1)).toMatch(/ --operation DescribeConfigs --cluster$/);
  });

  it('is a KafkaUser of Strimzi', async () => {
    const { out } = await platform('kafka', 'acls', '--format', 'strimzi', '--cluster', 'events');
    expect(out).toMatch(
      /^---\napiVersion: kafka.strimzi.io\/v1beta2\nkind: KafkaUser\nmetadata:\n {2}name: "core"\n/,
    );
    expect(out).toContain('labels: { strimzi.io/cluster: "events" }');
    expect(out).toMatch(
      new RegExp(`resource: { type: topic, name: "[^"]*${topic}", patternType: literal }, operations`),
    );
    expect(out).toMatch(/resource: { type: cluster }, operations: \[DescribeConfigs\] }\n$/);
  });
});

describe('platform events dead-letters', () => {
  const letters = (...args: string[]) => platform('events', 'dead-letters', ...args);

  /** An event that could not be processed, and its id as a dead letter. */
  async function aDeadLetter(organizationId: string, purpose: string): Promise<string> {
    const [id, eventId, contactId] = [newId(), newId(), newId()];
    const event = {
      specversion: '1.0',
      id: eventId,
      type: 'core.consent.recorded.v1',
      source: 'urn:customer-platform:core',
      subject: `contacts/${contactId}`,
      time: new Date().toISOString(),
      datacontenttype: 'application/json',
      organizationid: organizationId,
      correlationid: eventId,
      data: { contact_id: contactId, purpose, channel: null, status: 'granted', previous: null },
    };
    await database.query(
      `INSERT INTO parked_events
         (organization_id, id, consumer, topic, key, event_id, event_type, payload, error, attempts)
       VALUES ($1, $2, 'core.domain-events/Consents', 'core.domain-events', $3, $4, $5, $6, 'TypeError: a mistake', 3)`,
      [organizationId, id, contactId, eventId, event.type, JSON.stringify(event)],
    );
    return id;
  }

  it('list shows what waits and why, without what it says', async () => {
    const organizationId = randomUUID();
    const id = await aDeadLetter(organizationId, 'shown');
    const { code, out } = await letters('list', '--organization', organizationId.toUpperCase());
    expect(code).toBe(0);
    expect(out).toContain(`${id}  `);
    expect(out).toContain('core.consent.recorded.v1  core.domain-events/Consents');
    expect(out).toMatch(/about contacts\/[0-9a-f-]{36}\n/);
    expect(out).toMatch(/3 tries: TypeError: a mistake\n1 dead letters\n$/);
    expect(out).not.toContain('shown');
    const [line] = jsonLines((await letters('list', '--json', '--organization', organizationId)).out);
    expect(line).toMatchObject({ id, attempts: 3 });
    expect(line).not.toHaveProperty('payload');
  });

  it('redeliver ends with 1 while the cause is there, and with 0 once it is removed', async () => {
    const organizationId = randomUUID();
    const ids = [await aDeadLetter(organizationId, 'one'), await aDeadLetter(organizationId, 'two')];
    const own = ['--organization', organizationId];
    mistakes.add('one').add('two');
    const early = await letters('redeliver', '--all', '--json', ...own);
    expect(early.code).toBe(1);
    expect(jsonLines(early.out)).toEqual(
      ids.map((id) => ({ id, delivered: false, error: 'TypeError: a mistake' })),
    );
    mistakes.clear();
    const byId = await letters('redeliver', ...ids.flatMap((id) => ['--id', id]), ...own);
    expect(byId).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^(delivered .*\n){2}2 delivered, 0 left\n$/) as string,
    });
    expect(taken).toEqual(['one', 'two']);
    expect((await letters('redeliver', '--all', ...own)).out).toBe('0 delivered, 0 left\n');
  });

  it('discard takes away what is named, and nothing else', async () => {
    const organizationId = randomUUID();
    const [gone, stays] = [
      await aDeadLetter(organizationId, 'gone'),
      await aDeadLetter(organizationId, 'stays'),
    ];
    const { code, out } = await letters('discard', '--id', gone);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^discarded {2}${gone} .*\n1 discarded\n$`)),
    ]);
    const left = jsonLines((await letters('list', '--json', '--organization', organizationId)).out);
    expect(left).toMatchObject([{ id: stays }]);
    expect((await letters('discard')).code).toBe(2);
  });

  it.each([
    [['redeliver'], 'Give --all, or each --id'],
    [['redeliver', '--all', '--id', randomUUID()], 'cannot be used with option'],
    [['redeliver', '--id', 'all'], 'It takes the id of a dead letter'],
    [['list', '--organization', 'acme'], 'It takes the id of an organization'],
  ])('ends with 2 for %j', async (args, reason) => {
    const { code, out, error } = await letters(...args);
    expect([code, out]).toEqual([2, '']);
    expect(error).toContain(reason);
  });
});

describe('platform installation', () => {
  const shown = async () => {
    const { code, out } = await platform('installation', 'show', '--json');
    return { code, ...(JSON.parse(out) as { id: string; marks: unknown }) };
  };

  it('shows whose the database is and what it uses, adopts, and renews', async () => {
    const { id, ...before } = await shown();
    expect(before).toMatchObject({ code: 0, marks: [{ place: 'Kafka', ids: [] }] });
    expect(await platform('installation', 'adopt')).toEqual({
      code: 0,
      out: `core: all is used by the installation ${id}\n`,
      error: '',
    });
    expect(await shown()).toMatchObject({ code: 0, marks: [{ place: 'Kafka', ids: [id] }] });
    const renewed = await platform('installation', 'renew', '--json');
    const made = JSON.parse(renewed.out) as { former: string; id: string };
    expect(made.former).toBe(id);
    // Found: the copy is still led to what the original uses.
    expect(await shown()).toMatchObject({ code: 1, id: made.id, marks: [{ place: 'Kafka', ids: [id] }] });
    await platform('installation', 'adopt');
    expect(await shown()).toMatchObject({ code: 0, marks: [{ place: 'Kafka', ids: [made.id] }] });
  });
});
