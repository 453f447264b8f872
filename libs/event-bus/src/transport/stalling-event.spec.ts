import { randomUUID } from 'node:crypto';
import { Controller, type INestApplication } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import {
  aBus,
  aDatabase,
  anIsolatedKafka,
  eventually,
  inOrganization,
  recordedOf,
} from '../../test/a-bus.js';
import type { EventFailure } from '../delivery/event-delivery.js';
import { OnEvent } from '../on-event.decorator.js';
import { Outbox } from '../outbox/outbox.js';
import { partitionOfKey } from '../producing/partition-of-key.js';

const [organizationId, anotherId] = [randomUUID(), randomUUID()];
const taken: string[] = [];
const failed: { name: string; failure: EventFailure }[] = [];

@Controller()
class Stalling {
  constructor(private readonly database: Database) {}

  @OnEvent('core.event.recorded.v1', { failed: 'onFailed' })
  async take(events: DomainEvent<'core.event.recorded.v1'>[]): Promise<void> {
    const names = events.map(({ data }) => data.event);
    const sleep = names.some((name) => name.startsWith('slow')) ? 60 : 0;
    await this.database.inOrganization({ organizationId }, async (tx) => {
      await tx.query('SET LOCAL statement_timeout = 20');
      await tx.query('SELECT pg_sleep($1)', [sleep]);
    });
    taken.push(...names);
  }

  onFailed(event: DomainEvent<'core.event.recorded.v1'>, failure: EventFailure): Promise<void> {
    failed.push({ name: event.data.event, failure });
    return Promise.resolve();
  }
}

let database: Awaited<ReturnType<typeof aDatabase>>;
let app: INestApplication;

beforeAll(async () => {
  database = await aDatabase();
  anIsolatedKafka();
  app = await aBus([Stalling]);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

function publish(named: readonly { key: string; name: string }[]): Promise<void> {
  const events = named.map(({ key, name }) => recordedOf(organizationId, key, name));
  return inOrganization(app, organizationId, (tx) => app.get(Outbox).append(tx, events));
}

describe('an event whose statement always runs into its time limit', () => {
  it('holds no other partition and no other key, and goes aside once others came through beside it', async () => {
    const [slow, other] = [randomUUID(), randomUUID()];
    const keys = Array.from({ length: 12 }, () => randomUUID());
    await publish([
      { key: slow, name: 'before' },
      { key: slow, name: 'slow' },
      { key: slow, name: 'after' },
      ...keys.map((key) => ({ key, name: key })),
    ]);
    await eventually(() => expect(taken).toEqual(expect.arrayContaining(['before', ...keys])));
    for (let round = 0; failed.length === 0; round += 1) {
      const name = `round ${String(round)}`;
      await publish([{ key: other, name }]);
      await eventually(() => expect(taken).toContain(name));
    }
    expect(failed).toMatchObject([{ name: 'slow', failure: { error: expect.anything() as unknown } }]);
    await eventually(() => expect(taken).toContain('after'));
    expect(taken).not.toContain('slow');
  }, 60_000);

  it('keeps back no other organization, though there are more of them before its event than a chunk holds', async () => {
    const keys = Array.from({ length: 3_000 }, () => randomUUID()).filter(
      (key) => partitionOfKey(key, 3) === 0,
    );
    const [behind = '', ...before] = keys.slice(0, 601);
    await publish(before.map((key, n) => ({ key, name: `slow ${String(n)}` })));
    await inOrganization(app, anotherId, (tx) =>
      app.get(Outbox).append(tx, recordedOf(anotherId, behind, 'behind')),
    );
    await eventually(() => expect(taken).toContain('behind'));
  }, 60_000);
});
