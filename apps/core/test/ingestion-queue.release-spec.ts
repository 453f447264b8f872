import { setTimeout as pause } from 'node:timers/promises';
import { Clock, newId } from '@customer-platform/database';
import {
  QueueUnavailable,
  RecordConsumers,
  RecordProducer,
  RecordTooLarge,
  Topics,
} from '@customer-platform/event-bus';
import { eventually } from '@customer-platform/testing';
import { startCore, START_MS, type TestCore } from '../src/core.fixture.js';
import { ownBroker, type OwnBroker } from '../src/own-broker.fixture.js';
import { decodeRecord } from '../src/vocabulary/events/event-frame.js';
import { IngestionQueue, INGESTION_TOPIC, type EventToQueue } from '../src/ingestion/ingestion-queue.js';

/** Larger than one event of these specs, smaller than what the queue makes of a hundred. */
const BROKER_TAKES = 20_000;
const PREFIX = 'spec.';
/** As the broker calls it, with its number for topics. */
const TOPIC = { type: 2, name: `${PREFIX}${INGESTION_TOPIC}` };

describe('the queue of accepted events', () => {
  let broker: OwnBroker;
  let core: TestCore;
  let queue: IngestionQueue;
  let producer: RecordProducer;
  /** The ids of each record that is in the topic, partition by partition in their order. */
  const records = new Map<string, string[]>();

  beforeAll(async () => {
    broker = await ownBroker();
    await broker.start();
    core = await startCore({
      KAFKA_BROKERS: broker.address,
      KAFKA_TOPIC_PREFIX: PREFIX,
      PROCESS_ROLE: 'api',
    });
    queue = core.app.app.get(IngestionQueue, { strict: false });
    producer = core.app.app.get(RecordProducer, { strict: false });
    await eventually(() => producer.prepare([INGESTION_TOPIC]), { within: 60_000 });
    core.app.app.get(RecordConsumers, { strict: false }).consume({
      topic: INGESTION_TOPIC,
      group: `spec.${newId()}`,
      eachChunk: (chunk) => {
        for (const { partition, offset, value } of chunk) {
          records.set(
            `${partition}/${offset}`,
            decodeRecord(value).map(({ eventId }) => eventId),
          );
        }
        return Promise.resolve();
      },
    });
    await queued(anEvent('first'));
    await eventually(() => expect(records.size).toBeGreaterThan(0), { within: 60_000 });
  }, START_MS);
  afterAll(async () => {
    await core.close();
    await broker.remove();
  }, 60_000);

  const organizationId = newId();
  function anEvent(externalId: string, bytes = 300): EventToQueue {
    const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(bytes) }));
    return { organizationId, externalId, eventId: newId(), kind: 'track', receivedAt: Date.now(), body };
  }
  const idsOf = (events: readonly EventToQueue[]): string[] => events.map(({ eventId }) => eventId);
  const times = (id: string): number => [...records.values()].flat().filter((each) => each === id).length;
  const recordsWith = (ids: readonly string[]): number =>
    [...records.values()].filter((record) => record.some((id) => ids.includes(id))).length;
  /** Adds it until it is acknowledged, as a caller does on 503. */
  async function queued(event: EventToQueue): Promise<void> {
    await eventually(() => queue.add([event]), { within: 60_000 });
  }
  const inTopic = (ids: readonly string[]): Promise<void> =>
    eventually(() => expect(ids.map(times).every((count) => count > 0)).toBe(true), { within: 60_000 });

  it('holds each event that was acknowledged once, those of a contact in their order', async () => {
    const contacts = Array.from({ length: 20 }, (_, at) => `contact-${String(at)}`);
    const sent = await Promise.all(
      contacts.map(async (contact) => {
        const own: string[] = [];
        for (let at = 0; at < 40; at += 1) {
          const events = Array.from({ length: 1 + (at % 3) }, () => anEvent(contact));
          // Refused ones may be there all the same, and are sent no more here: the next ones are others.
          await queue.add(events).then(
            () => own.push(...idsOf(events)),
            (error: unknown) => expect(error).toBeInstanceOf(QueueUnavailable),
          );
        }
        return own;
      }),
    );
    expect(sent.flat().length).toBeGreaterThan(0);
    await inTopic(sent.flat());
    expect(sent.flat().filter((id) => times(id) !== 1)).toEqual([]);
    const order = [...records.values()].flat();
    for (const own of sent) expect(order.filter((id) => own.includes(id))).toEqual(own);
    expect(recordsWith(sent.flat())).toBeLessThan(sent.flat().length);
  }, 120_000);

  it('keeps a record open while a request is in flight', async () => {
    await eventually(
      async () => {
        const events = [anEvent('open'), anEvent('open'), anEvent('open')];
        const [first, ...later] = events as [EventToQueue, EventToQueue, EventToQueue];
        broker.freeze();
        try {
          const adding = [queue.add([first])];
          while (!producer.busy) await pause(1);
          // Longer apart than a record is open while nothing is in flight.
          for (const event of later) {
            adding.push(queue.add([event]));
            await pause(10);
          }
          broker.thaw();
          await Promise.all(adding);
        } finally {
          broker.thaw();
        }
        await inTopic(idsOf(events));
        // The machine may have been slower than such a record may grow old; then another round shows it.
        expect(recordsWith(idsOf(later))).toBe(1);
      },
      { within: 60_000 },
    );
  }, 90_000);

  it('refuses what waits while the broker says nothing, and takes all of it later', async () => {
    const events = Array.from({ length: 60 }, (_, at) => anEvent(`frozen-${String(at % 7)}`));
    broker.freeze();
    try {
      const adding: Promise<unknown>[] = [];
      for (const event of events) {
        adding.push(queue.add([event]).catch((error: unknown) => error));
        await pause(1);
      }
      for (const error of await Promise.all(adding)) expect(error).toBeInstanceOf(QueueUnavailable);
    } finally {
      broker.thaw();
    }
    await Promise.all(events.map(queued));
    await inTopic(idsOf(events));
  }, 90_000);

  describe('at a broker that takes smaller records than the queue makes', () => {
    beforeAll(async () => {
      await core.app.app.get(Topics, { strict: false }).withAdmin(async (admin) => {
        const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [TOPIC] });
        const own = resources.flatMap(({ configEntries }) =>
          configEntries.filter(({ configSource }) => Number(configSource) === 1),
        );
        const configEntries = [
          ...own.map(({ configName, configValue }) => ({ name: configName, value: configValue })),
          { name: 'max.message.bytes', value: String(BROKER_TAKES) },
        ];
        await admin.alterConfigs({ validateOnly: false, resources: [{ ...TOPIC, configEntries }] });
      });
      // The setting holds once the broker has refused one for it.
      await eventually(
        () => expect(queue.add([anEvent('huge', 30_000)])).rejects.toBeInstanceOf(RecordTooLarge),
        { within: 30_000 },
      );
    }, 60_000);
    it('sends the halves of a record that is refused for its size: each event once, in order', async () => {
      const events = Array.from({ length: 100 }, () => anEvent('batch', 900));
      // A round that a slow broker refused in the middle is in the topic in part; the next one is of other events.
      const sent = await eventually(
        async () => {
          const round = events.map((event) => ({ ...event, eventId: newId() }));
          await queue.add(round);
          return idsOf(round);
        },
        { within: 60_000 },
      );
      await inTopic(sent);
      expect(sent.filter((id) => times(id) !== 1)).toEqual([]);
      expect([...records.values()].flat().filter((id) => sent.includes(id))).toEqual(sent);
      expect(recordsWith(sent)).toBeGreaterThan(1);
    }, 90_000);

    /** A queue that knows nothing yet of what the broker takes. */
    const aQueue = (clock = new Clock()): IngestionQueue =>
      new IngestionQueue(producer, core.app.app.get(Topics, { strict: false }), clock);

    it('keeps the order of a contact though its later events are on their way when a record is refused', async () => {
      const sent = await eventually(
        async () => {
          const fresh = aQueue();
          const first = Array.from({ length: 60 }, () => anEvent('steady', 900));
          const later = Array.from({ length: 6 }, () => anEvent('steady', 900));
          const adding = [fresh.add(first)];
          for (const event of later) {
            await pause(5);
            adding.push(fresh.add([event]));
          }
          await Promise.all(adding);
          return idsOf([...first, ...later]);
        },
        { within: 60_000 },
      );
      await inTopic(sent);
      expect([...records.values()].flat().filter((id) => sent.includes(id))).toEqual(sent);
    }, 90_000);

    it('makes smaller records from then on, and in the course of an hour whole ones again', async () => {
      class MovedClock extends Clock {
        at = Date.now();
        override now(): Date {
          return new Date(this.at);
        }
      }
      const clock = new MovedClock();
      const fresh = aQueue(clock);
      const whole = fresh.recordBytes;
      await eventually(() => fresh.add(Array.from({ length: 60 }, () => anEvent('large', 900))), {
        within: 60_000,
      });
      const narrow = fresh.recordBytes;
      expect(narrow).toBeLessThan(BROKER_TAKES);
      clock.at += 60_000;
      expect(fresh.recordBytes).toBeGreaterThan(narrow);
      expect(fresh.recordBytes).toBeLessThanOrEqual(1.25 * narrow);
      clock.at += 60 * 60_000;
      expect(fresh.recordBytes).toBe(whole);
    }, 90_000);

    it('refuses the event that is too large by itself, and no other', async () => {
      const others = Array.from({ length: 10 }, (_, at) => anEvent(`beside-${String(at)}`));
      const huge = anEvent('huge', 30_000);
      const [refusal] = await Promise.all([
        queue.add([huge]).catch((error: unknown) => error),
        ...others.map(queued),
      ]);
      expect(refusal).toBeInstanceOf(Error);
      await inTopic(idsOf(others));
      expect(times(huge.eventId)).toBe(0);
    }, 90_000);
  });
});
