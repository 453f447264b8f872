import { Database, newId } from '@customer-platform/database';
import { RecordConsumers } from '@customer-platform/event-bus';
import { expectStatus, type Caller } from '@customer-platform/testing';
import type { Type } from '@nestjs/common';
import { aTrack, anIdentify } from '../core.fixture.js';
import { encodeFrame, encodeRecord } from '../ingestion/event-frame.js';
import { eventIdOf } from '../ingestion/event-id.js';
import { SegmentWorld } from '../segments/segment.fixture.js';
import { CarefulProcessor } from './careful-processor.js';
import { ChunkProcessor } from './chunk-processor.js';
import { Confirmation } from './confirmation.js';
import { IngestionWorker } from './ingestion.worker.js';
import { QueuePositions } from './queue-positions.js';
import { UnreadableRecords } from './unreadable-records.js';

const ROUNDS = 8;
const CONTACTS = '/v1/core/contacts';

type Body = Record<string, unknown>;

describe('two instances with the same contacts in opposite order', () => {
  let world: SegmentWorld;
  let workers: IngestionWorker[];
  let offset = 0;
  beforeAll(async () => {
    world = await SegmentWorld.start();
    workers = [anInstance(), anInstance()];
  }, 60_000);
  afterAll(() => world.close());

  /** The worker of a process of its own: it shares no transaction with the other. */
  function anInstance(): IngestionWorker {
    const of = <T>(type: Type<T>): T => world.core.app.app.get(type, { strict: false });
    return new IngestionWorker(
      of(RecordConsumers),
      of(Database),
      of(QueuePositions),
      of(Confirmation),
      of(ChunkProcessor),
      of(CarefulProcessor),
      of(UnreadableRecords),
    );
  }

  /** Gives events to an instance as one chunk of a partition of its own. */
  function take(instance: number, organizationId: string, bodies: readonly Body[]): Promise<void> {
    const frames = bodies.map((body) =>
      encodeFrame({
        organizationId,
        eventId: eventIdOf(organizationId, String(body['idempotency_key'])),
        kind: 'traits' in body ? 'identify' : 'track',
        receivedAt: Date.now(),
        body: Buffer.from(JSON.stringify(body)),
      }),
    );
    const place = { partition: 900 + instance, offset: String((offset += 1)), key: undefined };
    const record = { ...place, value: encodeRecord(frames), timestamp: Date.now() };
    const worker = workers[instance];
    if (!worker) throw new RangeError(`There is no instance ${instance}`);
    return worker.take([record], () => Promise.resolve());
  }

  async function expectAllStored(id: string, events: number): Promise<void> {
    expect(await world.count('events', id)).toBe(events);
    expect(await world.count('dead_letters', id)).toBe(0);
  }

  async function contactOf(caller: Caller, externalId: string): Promise<string> {
    const { body } = await caller.get<{ data: { id: string }[] }>(`${CONTACTS}?external_id=${externalId}`);
    return body.data[0]?.id ?? '';
  }

  /** Someone known by a device alone. */
  async function anonymous(caller: Caller, device: string): Promise<string> {
    const created = await caller.post<{ id: string }>(CONTACTS, { email: `${device}@example.com` });
    expectStatus(created, 201);
    const path = `${CONTACTS}/${created.body.id}`;
    expectStatus(await caller.post(`${path}/identities`, { type: 'device_id', value: device }), 201);
    expectStatus(await caller.patch(path, { email: null }), 200);
    return created.body.id;
  }

  it('both store what they took, while the contacts are merged and parted', async () => {
    const { id, caller } = world.anOrganization();
    const people = Array.from({ length: 12 }, (_, at) => `person-${at}`);
    const of = (names: readonly string[]): Body[] =>
      names.flatMap((external_id, at) => [
        aTrack({ external_id }),
        anIdentify({ external_id, traits: { round: at, name: newId() } }),
      ]);
    await take(0, id, of(people));
    const [survivor_id, merged_id] = [
      await contactOf(caller, 'person-0'),
      await contactOf(caller, 'person-9'),
    ];
    for (let round = 0; round < ROUNDS; round += 1) {
      const merging = async (): Promise<void> => {
        const merged = await caller.post<{ merge_id: string }>(`${CONTACTS}/merge`, {
          survivor_id,
          merged_id,
        });
        expectStatus(merged, 200);
        expectStatus(await caller.post(`${CONTACTS}/merge`, { undo_merge_id: merged.body.merge_id }), 200);
      };
      await Promise.all([take(0, id, of(people)), take(1, id, of(people.toReversed())), merging()]);
    }
    await expectAllStored(id, people.length * 2 * (1 + 2 * ROUNDS));
  }, 120_000);

  it('fold each anonymous contact into one of those who claim its device', async () => {
    const { id, caller } = world.anOrganization();
    const claim = (external_id: string, device: string): Body =>
      anIdentify({ external_id, identities: [{ type: 'device_id', value: device }] });
    for (let round = 0; round < ROUNDS; round += 1) {
      const devices = [`phone-${round}`, `tablet-${round}`];
      const owners = [await anonymous(caller, devices[0] ?? ''), await anonymous(caller, devices[1] ?? '')];
      const claims = (whose: string, ids: readonly string[]): Body[] =>
        ids.map((device) => claim(`${whose}-${device}`, device));
      await Promise.all([
        take(0, id, claims('ana', devices)),
        take(1, id, claims('eva', devices.toReversed())),
      ]);
      const folded = await world.core.database.query(
        'SELECT 1 FROM contacts WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND merged_into IS NOT NULL',
        [id, owners],
      );
      expect(folded).toHaveLength(2);
    }
    await expectAllStored(id, 4 * ROUNDS);
  }, 120_000);
});
