import { randomUUID } from 'node:crypto';
import { Controller, Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Database, DatabaseModule } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import {
  aBus,
  aDatabase,
  anIsolatedKafka,
  consentOf,
  eventually,
  given,
  inOrganization,
  keyPairs,
  writing,
} from '../../test/a-bus.js';
import { EventBusModule } from '../event-bus.module.js';
import { Inbox } from '../inbox/inbox.js';
import { OnEvent } from '../on-event.decorator.js';
import { Outbox } from '../outbox/outbox.js';
import { KafkaTransport } from '../transport/kafka.transport.js';
import { proofsOf, signerOf } from '../proof/record-proofs.js';
import type { ParkedFilter } from './parked-events.js';
import { Redelivery, type Redelivered } from './redelivery.js';

type Consent = DomainEvent<'core.consent.recorded.v1'>;

/** What a programmer's mistake keeps from being processed, until it is put right. */
const mistakes = new Set<string>();
/** What takes longer than PostgreSQL gives it. */
const slow = new Set<string>();
const taken: string[] = [];

/** Counts each event once, as consumers do. */
@Controller()
class Counting {
  constructor(
    private readonly database: Database,
    private readonly inbox: Inbox,
  ) {}

  @OnEvent('core.consent.recorded.v1')
  async count(events: Consent[]): Promise<void> {
    for (const { organizationid: organizationId, id, data } of events) {
      await this.database.inOrganization({ organizationId }, async (tx) => {
        if (!(await this.inbox.claim(tx, 'counting', [id])).has(id)) return;
        await tx.query(`INSERT INTO counters VALUES ($1, $2, 1)`, [organizationId, data.purpose]);
        if (mistakes.has(data.purpose)) throw new TypeError('a mistake');
        if (!slow.has(data.purpose)) return;
        await tx.query(`SET LOCAL statement_timeout = 100`);
        await tx.query('SELECT pg_sleep(60)');
      });
    }
  }
}

/** Has nothing to do with the mistakes of the other. */
@Controller()
class Beside {
  @OnEvent('core.consent.recorded.v1')
  take(events: Consent[]): Promise<void> {
    taken.push(...events.map(({ data }) => data.purpose));
    return Promise.resolve();
  }
}

@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'core', entities: [], migrations: [] }),
    EventBusModule.forRoot({ module: 'core' }),
  ],
  controllers: [Counting, Beside],
})
class Root {}

let database: Awaited<ReturnType<typeof aDatabase>>;
let app: INestApplication;
beforeAll(async () => {
  database = await aDatabase();
  anIsolatedKafka();
  app = await aBus([Counting, Beside]);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

/** As an operator's command does it, beside the running service. */
async function redeliver(filter: ParkedFilter, options: { unproven?: boolean } = {}): Promise<Redelivered[]> {
  const beside = await NestFactory.create(Root, { logger: false, abortOnError: false });
  try {
    beside.connectMicroservice({ strategy: beside.get(KafkaTransport) });
    const redelivered: Redelivered[] = [];
    for await (const each of beside.get(Redelivery).run(filter, options)) redelivered.push(each);
    return redelivered;
  } finally {
    await beside.close();
  }
}

const errorsOf = (redelivered: Redelivered[]): string[] =>
  redelivered.flatMap(({ error }) => (error instanceof Error ? [`${error.name}: ${error.message}`] : []));

const parkedIn = (organizationId: string) =>
  inOrganization(app, organizationId, (tx) =>
    tx.query<{ id: string; attempts: number; error: string }>(
      'SELECT id, attempts, error FROM parked_events ORDER BY id',
    ),
  );

const counted = async (organizationId: string): Promise<string[]> => {
  const rows = await inOrganization(app, organizationId, (tx) =>
    tx.query<{ key: string }>('SELECT key FROM counters WHERE organization_id = $1 ORDER BY key', [
      organizationId,
    ]),
  );
  return rows.map(({ key }) => key);
};

/** Events of one contact that are parked, in their order. */
const parked = (...names: string[]): ReturnType<typeof parkedOf> => {
  const contactId = randomUUID();
  return parkedOf(names, () => contactId);
};

async function parkedOf(
  names: readonly string[],
  contactOf: () => string,
): Promise<{ organizationId: string; ids: string[] }> {
  const organizationId = randomUUID();
  for (const name of names) mistakes.add(name);
  await inOrganization(app, organizationId, (tx) =>
    app.get(Outbox).append(
      tx,
      names.map((name) => consentOf(organizationId, contactOf(), name)),
    ),
  );
  await eventually(async () => expect(await parkedIn(organizationId)).toHaveLength(names.length));
  return { organizationId, ids: (await parkedIn(organizationId)).map(({ id }) => id) };
}

/** A consent as core tells it. */
function domainEventOf(organizationId: string): DomainEvent<'core.consent.recorded.v1'> {
  return {
    specversion: '1.0',
    id: randomUUID(),
    source: 'urn:customer-platform:core',
    subject: `contacts/${randomUUID()}`,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    organizationid: organizationId,
    correlationid: randomUUID(),
    type: 'core.consent.recorded.v1',
    data: consentOf(organizationId, randomUUID(), 'unproven').data,
  } as DomainEvent<'core.consent.recorded.v1'>;
}

describe('redelivery', () => {
  it('gives each its effect once its cause is removed, and to nobody who had it already', async () => {
    const { organizationId } = await parked('one', 'two');
    const before = [...taken];
    expect(before).toEqual(['one', 'two']);

    const tooEarly = await redeliver({ organizationId });
    expect(errorsOf(tooEarly)).toEqual(['TypeError: a mistake', 'TypeError: a mistake']);
    expect((await parkedIn(organizationId)).map(({ attempts }) => attempts)).toEqual([4, 4]);

    mistakes.clear();
    const delivered = await redeliver({ organizationId });
    expect([delivered.length, errorsOf(delivered)]).toEqual([2, []]);
    expect(await counted(organizationId)).toEqual(['one', 'two']);
    expect(taken).toEqual(before);
    expect(await redeliver({ organizationId })).toEqual([]);
    expect(await counted(organizationId)).toEqual(['one', 'two']);
  });

  it('leaves one that runs out of time, and goes on behind it', async () => {
    const { organizationId } = await parked('slow', 'quick');
    mistakes.clear();
    slow.add('slow');
    const redelivered = await redeliver({ organizationId });
    expect(redelivered.map(({ error }) => error !== undefined)).toEqual([true, false]);
    expect(await counted(organizationId)).toEqual(['quick']);
    expect((await parkedIn(organizationId)).map(({ attempts }) => attempts)).toEqual([4]);
    slow.clear();
    expect(errorsOf(await redeliver({ organizationId }))).toEqual([]);
    expect(await counted(organizationId)).toEqual(['quick', 'slow']);
  });

  it('takes one by its id, or those of a consumer', async () => {
    const { organizationId, ids } = await parked('a', 'b', 'c');
    mistakes.clear();
    await redeliver({ ids: [given(ids[1], 'id')] });
    expect(await counted(organizationId)).toEqual(['b']);
    expect(await redeliver({ consumer: 'core.domain-events/Nobody' })).toEqual([]);
    const consumer = 'core.domain-events/Counting';
    await redeliver({ consumer, organizationId });
    expect(await counted(organizationId)).toEqual(['a', 'b', 'c']);
  });

  it('gives its effect to what stands parked of nobody, under a correlation id that is a UUID of no version', async () => {
    const organizationId = randomUUID();
    const event = {
      specversion: '1.0',
      id: randomUUID(),
      source: 'urn:customer-platform:core',
      subject: `contacts/${randomUUID()}`,
      time: new Date().toISOString(),
      datacontenttype: 'application/json',
      organizationid: organizationId,
      correlationid: '01234567-89ab-cdef-0123-456789abcdef',
      type: 'core.consent.recorded.v1',
      data: consentOf(organizationId, randomUUID(), 'unheard').data,
    };
    const id = randomUUID();
    const nobody = '00000000-0000-0000-0000-000000000000';
    await inOrganization(app, nobody, (tx) =>
      tx.query(
        `INSERT INTO parked_events
           (organization_id, id, consumer, topic, key, event_id, event_type, payload, error, attempts)
         VALUES ($1, $2, 'core.domain-events', 'core.domain-events', 'k', $2, $3, $4, 'InvalidDomainEvent: …', 1)`,
        [nobody, id, event.type, JSON.stringify(event)],
      ),
    );
    expect(errorsOf(await redeliver({ ids: [id] }, { unproven: true }))).toEqual([]);
    expect(await counted(organizationId)).toEqual(['unheard']);
    expect(await parkedIn(nobody)).toEqual([]);
  });

  it('never has an effect of what another module wrote', async () => {
    const { organizationId, ids } = await parked('forged', 'genuine');
    mistakes.clear();
    await inOrganization(app, organizationId, (tx) =>
      tx.query(`UPDATE parked_events SET topic = 'loyalty.domain-events' WHERE id = $1`, [ids[0]]),
    );
    expect(errorsOf(await redeliver({ organizationId }))).toEqual([
      'ForeignEvent: core.consent.recorded.v1 is no event of loyalty.domain-events',
    ]);
    expect(await counted(organizationId)).toEqual(['genuine']);
    expect(await parkedIn(organizationId)).toHaveLength(1);
  });

  it.each([
    ['without a proof', undefined, 'carries no proof of who wrote it'],
    ['by another module', keyPairs.loyalty, 'is signed by loyalty, who does not write there'],
  ])('asks somebody to answer for what was written %s', async (_, keys, reason) => {
    const topic = 'core.domain-events';
    const event = domainEventOf(randomUUID());
    const record = { topic, key: 'k', value: JSON.stringify(event) };
    const [proof] = keys ? proofsOf([record], signerOf(keys.privateJwk)) : [];
    await writing(topic, { ...record, headers: proof ? { proof } : {} });
    const { organizationid: organizationId } = event;
    await eventually(async () => expect(await parkedIn(organizationId)).toHaveLength(1));
    const [letter] = await parkedIn(organizationId);
    expect(letter?.error).toBe(`UnprovenEvent: a record of ${topic} ${reason}`);
    expect(errorsOf(await redeliver({ organizationId }))).toEqual([letter?.error]);
    expect(await counted(organizationId)).toEqual([]);
    expect(errorsOf(await redeliver({ ids: [given(letter, 'letter').id] }, { unproven: true }))).toEqual([]);
    expect(await counted(organizationId)).toEqual(['unproven']);
    expect(await parkedIn(organizationId)).toEqual([]);
  });

  it('believes what was parked once the key of its writer is known', async () => {
    const topic = 'core.domain-events';
    const event = domainEventOf(randomUUID());
    const record = { topic, key: 'k', value: JSON.stringify(event) };
    const next = { ...keyPairs.loyalty, kid: 'core-2' };
    const [proof] = proofsOf([record], signerOf({ ...next.privateJwk, kid: next.kid }));
    await writing(topic, { ...record, headers: { proof: given(proof, 'proof') } });
    const { organizationid: organizationId } = event;
    await eventually(async () => expect(await parkedIn(organizationId)).toHaveLength(1));
    expect(errorsOf(await redeliver({ organizationId }))[0]).toMatch('not known here: "core-2"');
    const known = given(process.env['SERVICE_PUBLIC_KEYS'], 'keys');
    const { keys } = JSON.parse(known) as { keys: object[] };
    try {
      process.env['SERVICE_PUBLIC_KEYS'] = JSON.stringify({
        keys: [...keys, { ...next.publicJwk, kid: next.kid }],
      });
      expect(errorsOf(await redeliver({ organizationId }))).toEqual([]);
    } finally {
      process.env['SERVICE_PUBLIC_KEYS'] = known;
    }
    expect(await counted(organizationId)).toEqual(['unproven']);
  });

  it('has one effect where several operators run it at once', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `at once ${String(at).padStart(2, '0')}`);
    const { organizationId } = await parkedOf(names, randomUUID);
    mistakes.clear();
    const runs = await Promise.all([1, 2, 3].map(() => redeliver({ organizationId })));
    expect(runs.flatMap(errorsOf)).toEqual([]);
    // A second effect would break the table's key, and leave its event parked.
    expect(await counted(organizationId)).toEqual(names);
    expect(await parkedIn(organizationId)).toEqual([]);
  });

  it('reads a message again that could not be read, and tells of a consumer that is no more', async () => {
    const { organizationId, ids } = await parked('unreadable', 'orphaned');
    const set = (id: string | undefined, column: string, value: string): Promise<unknown> =>
      inOrganization(app, organizationId, (tx) =>
        tx.query(`UPDATE parked_events SET ${column} = $2 WHERE id = $1`, [id, value]),
      );
    mistakes.clear();
    await set(ids[0], 'payload', '{"no": "event"}');
    await set(ids[1], 'consumer', 'core.domain-events/Former');
    const failed = errorsOf(await redeliver({ organizationId }));
    expect(failed.map((error) => error.split(':')[0])).toEqual(['InvalidDomainEvent', 'NobodySubscribes']);
    // The group's name alone is all of its consumers, each of which knows what it has had.
    await set(ids[1], 'consumer', 'core.domain-events');
    await redeliver({ ids: [given(ids[1], 'id')] }, { unproven: true });
    expect(await counted(organizationId)).toEqual(['orphaned']);
  });
});
