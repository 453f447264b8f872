import { Database } from '@customer-platform/database';
import type { IncomingRecord } from '@customer-platform/event-bus';
import { startCore, type TestCore } from '../core.fixture.js';
import { QueuePositions } from './queue-positions.js';

describe('QueuePositions', () => {
  let core: TestCore;
  let positions: QueuePositions;
  let database: Database;
  beforeAll(async () => {
    core = await startCore();
    positions = core.app.app.get(QueuePositions, { strict: false });
    database = core.app.app.get(Database, { strict: false });
  });
  afterAll(() => core.close());

  const record = (offset: number, timestamp: number, partition = 0): IncomingRecord => ({
    partition,
    offset: String(offset),
    timestamp,
    key: undefined,
    value: Buffer.alloc(0),
  });

  const advance = async (topic: string, ...records: IncomingRecord[]) => {
    const fresh = await database.acrossOrganizations((tx) => positions.advance(tx, 'worker', topic, records));
    return fresh.map(({ partition, offset }) => `${partition}:${offset}`);
  };

  it('passes each record once, however often it is delivered', async () => {
    expect(await advance('again', record(0, 10), record(1, 11), record(0, 12, 1))).toEqual([
      '0:0',
      '0:1',
      '1:0',
    ]);
    expect(await advance('again', record(0, 10), record(1, 11), record(2, 11))).toEqual(['0:2']);
    expect(await advance('again', record(0, 12, 1), record(1, 12, 1))).toEqual(['1:1']);
    expect(await advance('again', record(1, 11))).toEqual([]);
  });

  it('forgets what a transaction that was rolled back had moved', async () => {
    const failing = database.acrossOrganizations(async (tx) => {
      await positions.advance(tx, 'worker', 'rolled-back', [record(0, 10)]);
      throw new Error('killed before the commit');
    });
    await expect(failing).rejects.toThrow('killed');
    expect(await advance('rolled-back', record(0, 10))).toEqual(['0:0']);
  });

  it('begins anew when the queue was lost and made again', async () => {
    await advance('made-anew', record(0, 10), record(1, 11), record(2, 12));
    // Offsets count from 0 again, and time has gone on.
    expect(await advance('made-anew', record(0, 50), record(1, 50))).toEqual(['0:0', '0:1']);
    expect(await advance('made-anew', record(1, 50), record(2, 51))).toEqual(['0:2']);
  });

  it('makes two that work on one partition take turns', async () => {
    const order: string[] = [];
    const first = Promise.withResolvers<void>();
    const holding = database.acrossOrganizations(async (tx) => {
      order.push(`first ${(await positions.advance(tx, 'worker', 'two', [record(0, 10)])).length}`);
      await first.promise;
    });
    while (order.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const waiting = advance('two', record(0, 10), record(1, 11)).then((fresh) =>
      order.push(`second ${fresh.join()}`),
    );
    first.resolve();
    await Promise.all([holding, waiting]);
    expect(order).toEqual(['first 1', 'second 0:1']);
  });
});
