import { anOrganization } from '@customer-platform/testing';
import { DatabaseUnavailable, newId } from '../src/index.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

const INSERT = `INSERT INTO jobs (organization_id, id) VALUES ($1, $2)`;
const COUNT = 'SELECT count(*)::int AS count FROM jobs';
/** Reads what the settings of a transaction leave behind on its connection. */
const SETTINGS = `SELECT coalesce(current_setting('app.organization_id', true), '') AS organization`;

describe('reads at once', () => {
  let world: WidgetWorld;
  beforeAll(async () => {
    world = await aWidgetWorld();
  });
  afterAll(() => world.close());

  interface Count {
    count: number;
  }
  const aJob = async (where: { organizationId: string }): Promise<void> => {
    await world.database.inOrganization(where, (tx) => tx.query(INSERT, [where.organizationId, newId()]));
  };
  const scope = (): { organizationId: string } => ({ organizationId: anOrganization().id });

  it('answer all, prepared or not, of the organization alone', async () => {
    const [where, other] = [scope(), scope()];
    await aJob(where);
    await aJob(other);
    for (let turn = 0; turn < 3; turn += 1) {
      const [counts, organizations] = await world.database.atOnce(
        where,
        (tx) =>
          [
            tx.query<Count>(COUNT),
            tx.prepared<{ id: string }>(
              'SELECT organization_id AS id FROM jobs WHERE organization_id <> $1',
              [tx.organizationId],
            ),
          ] as const,
        { byKeys: true },
      );
      expect([counts, organizations]).toEqual([[{ count: 1 }], []]);
    }
  });

  it('see one state of the database', async () => {
    const where = scope();
    const sleep = 'SELECT pg_sleep(0.2)';
    const both = world.database.atOnce(
      where,
      (tx) => [tx.query<Count>(COUNT), tx.query(sleep), tx.query<Count>(COUNT)] as const,
    );
    await aJob(where);
    const [before, , after] = await both;
    expect(after).toEqual(before);
  });

  it('change nothing, and leave a clean connection when one of them fails', async () => {
    const where = scope();
    const asked = Array.from({ length: 12 }, (_, turn) =>
      world.database.atOnce(where, (tx) => [
        tx.query(COUNT),
        tx.query(turn % 2 === 0 ? 'SELECT 1/0' : `SELECT '${newId()}'::int`),
        tx.query(COUNT),
      ]),
    );
    for (const each of await Promise.allSettled(asked)) {
      expect(each).toMatchObject({ status: 'rejected', reason: { code: expect.stringMatching(/^22/) } });
    }
    const writing = world.database.atOnce(where, (tx) => [tx.query(INSERT, [where.organizationId, newId()])]);
    await expect(writing).rejects.toThrow(DatabaseUnavailable);
    await aJob(where);
    const [rows] = await world.database.atOnce(where, (tx) => [tx.query<Count>(COUNT)] as const);
    expect(rows).toEqual([{ count: 1 }]);
    const left = await world.database.acrossOrganizations((tx) => tx.query(SETTINGS));
    expect(left).toEqual([{ organization: '' }]);
  });

  it('refuse what is asked for later, and tell what the asking threw', async () => {
    const where = scope();
    const later = world.database.atOnce(where, (tx) => [
      (async () => {
        await tx.query(COUNT);
        return tx.query(COUNT);
      })(),
    ]);
    await expect(later).rejects.toThrow('The reads have been sent');
    const wrong = world.database.atOnce(where, (tx) => [
      tx.query(COUNT),
      (async () => {
        await Promise.reject(new Error('not mine'));
      })(),
    ]);
    await expect(wrong).rejects.toThrow('not mine');
    const thrown = world.database.atOnce(where, () => {
      throw new Error('changed my mind');
    });
    await expect(thrown).rejects.toThrow('changed my mind');
    const [rows] = await world.database.atOnce(where, (tx) => [tx.query<Count>(COUNT)] as const);
    expect(rows).toEqual([{ count: 0 }]);
  });

  it('join a larger unit of work, and see what it has written', async () => {
    const where = scope();
    await world.database.joined(where, async (tx) => {
      await tx.query(INSERT, [where.organizationId, newId()]);
      const [rows] = await world.database.atOnce(where, (own) => [own.query<Count>(COUNT)] as const);
      expect(rows).toEqual([{ count: 1 }]);
    });
  });
});
