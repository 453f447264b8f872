import { randomUUID } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { InvalidDomainEvent, parseDomainEvent, type DomainEvent } from '@customer-platform/events';
import { TcpLink } from '@customer-platform/testing';
import {
  aBus,
  aDatabase,
  anIsolatedKafka,
  consentOf,
  eventually,
  inOrganization,
  reading,
  recordedOf,
  type Reading,
} from '../../test/a-bus.js';
import { Topics } from '../kafka/topics.js';
import { Outbox } from './outbox.js';
import { OutboxListener } from './outbox.listener.js';

const organizationId = randomUUID();
let database: Awaited<ReturnType<typeof aDatabase>>;

beforeAll(async () => {
  database = await aDatabase();
});
afterAll(() => database.drop());

/** The names under which a key's events came, repeats left out: the order in which a consumer takes effect. */
function firstNames(messages: Reading['messages'], key: string): string[] {
  const names = messages
    .filter((message) => message.key === key)
    .map(({ value }) => (JSON.parse(value) as DomainEvent<'core.event.recorded.v1'>).data.event);
  return [...new Set(names)];
}

/** Appends one event after the other for a key, each in a transaction that holds the key's row, as writers do. */
async function appendNumbered(app: INestApplication, key: string, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number += 1) {
    await inOrganization(app, organizationId, async (tx) => {
      await tx.query(
        `INSERT INTO counters VALUES ($1, $2, 1) ON CONFLICT (organization_id, key) DO UPDATE SET value = counters.value + 1`,
        [organizationId, key],
      );
      await app.get(Outbox).append(tx, recordedOf(organizationId, key, String(number)));
    });
  }
}

async function waiting(app: INestApplication): Promise<number> {
  const rows = await inOrganization(app, organizationId, (tx) => tx.query('SELECT id FROM outbox'));
  return rows.length;
}

describe('the outbox and one relay', () => {
  let app: INestApplication;
  let topic: Reading;

  beforeAll(async () => {
    anIsolatedKafka();
    app = await aBus();
    await inOrganization(app, organizationId, (tx) =>
      app.get(Outbox).append(tx, recordedOf(organizationId, randomUUID(), 'first')),
    );
    await eventually(async () => {
      expect(await waiting(app)).toBe(0);
    });
    topic = await reading();
  });
  afterAll(async () => {
    await topic.stop();
    await app.close();
  });

  it('publishes what a transaction committed, as CloudEvents, and forgets it', async () => {
    const key = randomUUID();
    const event = { ...consentOf(organizationId, key, 'marketing'), causationId: randomUUID() };
    await inOrganization(app, organizationId, (tx) => app.get(Outbox).append(tx, event));
    await eventually(async () => {
      const [message] = topic.messages.filter((each) => each.key === key);
      expect(JSON.parse(message?.value ?? '{}')).toMatchObject({
        specversion: '1.0',
        type: 'core.consent.recorded.v1',
        source: 'urn:customer-platform:core',
        subject: `contacts/${key}`,
        organizationid: organizationId,
        correlationid: event.correlationId,
        causationid: event.causationId,
        data: event.data,
      });
      expect(message?.type).toBe('core.consent.recorded.v1');
      expect(await waiting(app)).toBe(0);
    });
  });

  it('refuses what it could not read back, and takes every UUID for a correlation id', async () => {
    const key = randomUUID();
    const event = consentOf(organizationId, key, 'marketing');
    const append = (change: object): Promise<void> =>
      inOrganization(app, organizationId, async (tx) => {
        await tx.query(`INSERT INTO counters VALUES ($1, $2, 1)`, [organizationId, key]);
        await app.get(Outbox).append(tx, { ...event, ...change });
      });
    const unreadable = [{ correlationId: 'none' }, { id: 'none' }, { time: '2026' }, { subject: '' }];
    for (const change of [...unreadable, { causationId: 'none' }, { organizationId: 'none' }]) {
      await expect(append(change)).rejects.toThrow(InvalidDomainEvent);
    }
    // Each took its change with it: a second one of the key would be refused.
    await append({ correlationId: '01234567-89ab-cdef-0123-456789abcdef' });
    await eventually(() => {
      const [message] = topic.messages.filter((each) => each.key === key);
      expect(parseDomainEvent('core.domain-events', message?.value ?? '').data).toEqual(event.data);
    });
  });

  it('publishes what nobody told it of, and rows of a version that knew no header', async () => {
    const [told, after] = [randomUUID(), randomUUID()];
    const admin = await database.admin();
    const messages = JSON.stringify([[told, '{"of":"an older version"}']]);
    await admin.query(
      `INSERT INTO outbox (organization_id, shard, topic, messages) VALUES ($1, 3, 'core.domain-events', $2)`,
      [organizationId, messages],
    );
    await admin.end();
    await eventually(() => {
      expect(topic.messages.filter(({ key }) => key === told)).toMatchObject([
        { value: '{"of":"an older version"}', type: undefined },
      ]);
    });
    await inOrganization(app, organizationId, (tx) =>
      app.get(Outbox).append(tx, consentOf(organizationId, after, 'after')),
    );
    await eventually(() => {
      expect(topic.messages.some(({ key }) => key === after)).toBe(true);
    });
  });

  it('takes events of several organizations from who crosses them, and from nobody else', async () => {
    const stranger = randomUUID();
    const events = [organizationId, stranger].map((each) => consentOf(each, randomUUID(), 'crossing'));
    const bound = inOrganization(app, organizationId, (tx) => app.get(Outbox).append(tx, events));
    await expect(bound).rejects.toThrow(/row-level security/);
    const foreign = inOrganization(app, organizationId, (tx) =>
      app.get(Outbox).append(tx, consentOf(stranger, randomUUID(), 'crossing')),
    );
    await expect(foreign).rejects.toThrow(/row-level security/);
    await app.get(Database).acrossOrganizations((tx) => app.get(Outbox).append(tx, events));
    await eventually(() => {
      const crossing = topic.messages.filter(({ value }) => value.includes('crossing'));
      expect(crossing.map(({ key }) => key).sort()).toEqual(events.map(({ key }) => key).sort());
    });
    for (const { key, organizationId: owner } of events) {
      const message = topic.messages.find((each) => each.key === key);
      expect(JSON.parse(message?.value ?? '{}')).toMatchObject({ organizationid: owner });
    }
  });

  it('publishes nothing of a transaction that was rolled back', async () => {
    const key = randomUUID();
    const after = randomUUID();
    const undone = inOrganization(app, organizationId, async (tx) => {
      await app.get(Outbox).append(tx, consentOf(organizationId, key, 'undone'));
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    await inOrganization(app, organizationId, (tx) =>
      app.get(Outbox).append(tx, consentOf(organizationId, after, 'done')),
    );
    await eventually(() => {
      expect(topic.messages.some((message) => message.key === after)).toBe(true);
    });
    expect(topic.messages.some((message) => message.key === key)).toBe(false);
  });

  it('refuses data that its type does not promise, before anything is written', async () => {
    const event = consentOf(organizationId, randomUUID(), 'x');
    const wrong = { ...event, data: { ...event.data, status: 'perhaps' } } as unknown as typeof event;
    const appended = inOrganization(app, organizationId, (tx) => app.get(Outbox).append(tx, wrong));
    await expect(appended).rejects.toBeInstanceOf(InvalidDomainEvent);
  });

  it('refuses a message that the broker would never take, for it would stop its shard', async () => {
    const message = { organizationId, topic: 'audit.entries', key: 'a', value: 'x'.repeat(1_000_000) };
    const appended = inOrganization(app, organizationId, (tx) =>
      app.get(Outbox).appendMessages(tx, [message]),
    );
    await expect(appended).rejects.toBeInstanceOf(RangeError);
  });

  it('keeps what is for a topic that its module has not made, and publishes what comes after it', async () => {
    const [theirs, key] = ['loyalty.domain-events', randomUUID()];
    const early = { organizationId, topic: theirs, key, value: '{"early":true}' };
    await inOrganization(app, organizationId, (tx) => app.get(Outbox).appendMessages(tx, [early]));
    await appendNumbered(app, key, 0, 1);
    await eventually(() => expect(firstNames(topic.messages, key)).toEqual(['0']));
    expect(await waiting(app)).toBe(1);
    const name = `${process.env['KAFKA_TOPIC_PREFIX'] ?? ''}${theirs}`;
    await app.get(Topics).withAdmin((admin) => admin.createTopics({ topics: [{ topic: name }] }));
    await eventually(async () => expect(await waiting(app)).toBe(0));
    const told = await reading(theirs);
    await eventually(() => expect(told.messages.map(({ value }) => value)).toContain(early.value));
    await told.stop();
  });

  it('publishes the rows of other shards while somebody holds a row of one', async () => {
    const [held, free, admin] = [randomUUID(), randomUUID(), await database.admin()];
    const left = async (): Promise<string[]> => {
      const sql = 'SELECT organization_id AS id FROM outbox WHERE organization_id = ANY($1)';
      return (await admin.query<{ id: string }>(sql, [[held, free]])).rows.map(({ id }) => id);
    };
    // Not the ten seconds that a process waits for a lock. No relay has the shards before the row is held.
    await admin.query(`
      CREATE FUNCTION wait_briefly() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM set_config('lock_timeout', '200', true); RETURN NULL; END $$;
      CREATE TRIGGER wait_briefly BEFORE DELETE ON outbox FOR EACH STATEMENT EXECUTE FUNCTION wait_briefly();
      SELECT pg_advisory_lock(x'6f626f78'::int, shard) FROM generate_series(3, 4) AS shard;
      INSERT INTO outbox (organization_id, shard, topic, messages)
      SELECT waiting.id::uuid, shard, 'core.domain-events', '[["key", "{}", "spec.unknown.v1"]]'
        FROM (VALUES ('${held}', 3), ('${free}', 4)) AS waiting (id, shard)`);
    await admin.query('BEGIN');
    await admin.query('SELECT FROM outbox WHERE organization_id = $1 FOR UPDATE', [held]);
    await admin.query('SELECT pg_advisory_unlock_all()');
    await eventually(async () => expect(await left()).toEqual([held]));
    await admin.query('ROLLBACK');
    await eventually(async () => expect(await left()).toEqual([]));
    await admin.query('DROP TRIGGER wait_briefly ON outbox; DROP FUNCTION wait_briefly()');
    await admin.end();
  });

  it('publishes far more than one request holds, in order', async () => {
    const key = randomUUID();
    const messages = Array.from({ length: 300 }, (_, number) => ({
      organizationId,
      topic: 'audit.entries',
      key,
      value: JSON.stringify({ number, text: 'y'.repeat(20_000) }),
    }));
    await inOrganization(app, organizationId, (tx) => app.get(Outbox).appendMessages(tx, messages));
    await eventually(async () => {
      expect(await waiting(app)).toBe(0);
    });
    const audit = await reading('audit.entries');
    await eventually(() => {
      expect(audit.messages.map(({ value }) => (JSON.parse(value) as { number: number }).number)).toEqual(
        messages.map((_, number) => number),
      );
    });
    await audit.stop();
  });

  it('hears of appends in a process without a relay, also after its connection was cut', async () => {
    const heard: number[] = [];
    const listener = new OutboxListener(database.url, () => heard.push(Date.now()));
    listener.start();
    await eventually(() => {
      expect(heard.length).toBe(1);
    });
    const server = await aBus([], { role: 'api' });
    const key = randomUUID();
    await inOrganization(server, organizationId, (tx) =>
      server.get(Outbox).append(tx, consentOf(organizationId, key, 'told')),
    );
    await eventually(() => {
      expect(heard.length).toBe(2);
    });
    const admin = await database.admin();
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN outbox%'`,
    );
    await admin.end();
    await eventually(() => {
      expect(heard.length).toBe(3); // listening again
    });
    await inOrganization(server, organizationId, (tx) =>
      server.get(Outbox).append(tx, consentOf(organizationId, key, 'told again')),
    );
    await eventually(() => {
      expect(heard.length).toBe(4);
    });
    await server.close();
    await listener.stop();
  });
});

describe('a relay whose server goes without a word', () => {
  it('listens on a new connection', async () => {
    const wire = new TcpLink();
    await wire.open();
    let heard = 0;
    const patience = { askEveryMs: 50, answerMs: 500 };
    const listener = new OutboxListener(wire.through(database.url), () => (heard += 1), patience);
    listener.start();
    await eventually(() => {
      expect(heard).toBe(1);
    });
    wire.silence();
    await eventually(() => {
      expect(heard).toBe(2); // listening again
    });
    await listener.stop();
    await wire.cut();
  });
});

describe('a process without a relay that stops', () => {
  it('tells of what it appended last', async () => {
    anIsolatedKafka();
    let heard = 0;
    const listener = new OutboxListener(database.url, () => (heard += 1));
    listener.start();
    await eventually(() => {
      expect(heard).toBe(1);
    });
    const server = await aBus([], { role: 'api' });
    // The second is told of some time after the first: by then the process is gone.
    for (const note of ['first', 'last']) {
      await inOrganization(server, organizationId, (tx) =>
        server.get(Outbox).append(tx, consentOf(organizationId, randomUUID(), note)),
      );
      if (note === 'first') {
        await eventually(() => {
          expect(heard).toBe(2);
        });
      }
    }
    await server.close();
    await eventually(() => {
      expect(heard).toBe(3);
    });
    await listener.stop();
  });
});

describe('several relays at once', () => {
  it('publish everything, each key in its order, while connections to Postgres are cut', async () => {
    anIsolatedKafka();
    const apps = await Promise.all([aBus(), aBus(), aBus()]);
    const [writer] = apps;
    if (!writer) throw new Error('no app');
    const keys = Array.from({ length: 24 }, () => randomUUID());
    const admin = await database.admin();
    let cutting = true;
    const cuts = (async () => {
      for (let cut = 0; cutting; cut += 1) {
        await admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%outbox USING%'`,
        );
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
    })();
    const writing = keys.map((key) =>
      retried(
        () => nextOf(writer, key),
        (next) => appendNumbered(writer, key, next, 40),
      ),
    );
    await Promise.all(writing);
    cutting = false;
    await cuts;
    await admin.end();
    await eventually(async () => {
      expect(await waiting(writer)).toBe(0);
    });
    const topic = await reading();
    const expected = Array.from({ length: 40 }, (_, number) => String(number));
    await eventually(() => {
      for (const key of keys) expect(firstNames(topic.messages, key)).toEqual(expected);
    });
    await topic.stop();
    await Promise.all(apps.map((app) => app.close()));
  }, 60_000);
});

/** How many of a key's events are committed. */
async function nextOf(app: INestApplication, key: string): Promise<number> {
  const [row] = await inOrganization(app, organizationId, (tx) =>
    tx.query<{ value: number }>('SELECT value FROM counters WHERE key = $1', [key]),
  );
  return row?.value ?? 0;
}

/** Goes on from where the database is whenever a connection was cut under the writer. */
async function retried(next: () => Promise<number>, work: (from: number) => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await work(await next());
      return;
    } catch (error) {
      if (!/terminat|does not answer/.test(String(error))) throw error;
    }
  }
}
