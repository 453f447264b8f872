import { Database, newId } from '@customer-platform/database';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import { Instances, type InstancePurpose } from './instances.js';

const COUNTED_FOR_MS = 4_000;

let core: TestCore;
beforeAll(async () => {
  core = await startCore();
}, START_MS);
afterAll(() => core.close());

const instances = (purpose: InstancePurpose) =>
  new Instances(core.app.app.get(Database), purpose, COUNTED_FOR_MS);

/** Those that an instance knows when it tells of itself, of these. */
async function known(purpose: InstancePurpose, ...of: string[]): Promise<string[]> {
  const others = await instances(purpose).tell(newId());
  return others.map(({ id }) => id).filter((id) => of.includes(id));
}

const age = (id: string, by: string) =>
  core.database.query(`UPDATE instances SET seen_at = seen_at - $2::interval WHERE id = $1`, [id, by]);

describe('instances of core', () => {
  it('know those that tell of themselves, and what these have set aside', async () => {
    const [one, other, organization] = [newId(), newId(), newId()];
    await instances('segments').tell(one, [organization]);
    const others = await instances('segments').tell(other);
    expect(others).toContainEqual({ id: one, setAside: [organization] });
    expect(others.map(({ id }) => id)).not.toContain(other);
    await instances('segments').leave(one);
    expect(await known('segments', one, other)).toEqual([other]);
  });

  it('know nobody of another purpose', async () => {
    const id = newId();
    await instances('rate_limits').tell(id);
    expect(await known('segments', id)).toEqual([]);
    expect(await known('rate_limits', id)).toEqual([id]);
  });

  it('count none that has told nothing for a while, and forget it after a minute', async () => {
    const [silent, gone] = [newId(), newId()];
    for (const id of [silent, gone]) await instances('segments').tell(id);
    await age(silent, '5 seconds');
    await age(gone, '61 seconds');
    expect(await known('segments', silent, gone)).toEqual([]);
    const rows = await core.database.query('SELECT id FROM instances WHERE id = ANY ($1)', [[silent, gone]]);
    expect(rows).toEqual([{ id: silent }]);
  });

  describe.each([
    ['segments', 'segment_evaluators (id, seen_at, set_aside)', `($1, clock_timestamp(), '{}')`, 'id'],
    ['rate_limits', 'rate_limit_instances (instance_id, seen_at)', '($1, clock_timestamp())', 'instance_id'],
  ] as const)('of the release before (%s)', (purpose, columns, values, key) => {
    const [table = ''] = columns.split(' ');
    const tell = (id: string) =>
      core.app.app.get(Database).acrossOrganizations((tx) =>
        tx.query(
          `INSERT INTO ${columns} VALUES ${values}
           ON CONFLICT (${key}) DO UPDATE SET seen_at = excluded.seen_at`,
          [id],
        ),
      );
    const rows = (id: string) => core.database.query(`SELECT 1 FROM ${table} WHERE ${key} = $1`, [id]);

    it('are known, for as long as they tell', async () => {
      const old = newId();
      await tell(old);
      expect(await known(purpose, old)).toEqual([old]);
      await age(old, '5 seconds');
      expect(await known(purpose, old)).toEqual([]);
      await tell(old);
      expect(await known(purpose, old)).toEqual([old]);
      await core.app.app
        .get(Database)
        .acrossOrganizations((tx) => tx.query(`DELETE FROM ${table} WHERE ${key} = $1`, [old]));
      expect(await known(purpose, old)).toEqual([]);
    });

    it('know those of this one', async () => {
      const id = newId();
      await instances(purpose).tell(id);
      await instances(purpose).tell(id);
      expect(await rows(id)).toHaveLength(1);
      await instances(purpose).leave(id);
      expect(await rows(id)).toEqual([]);
    });
  });
});
