import fc from 'fast-check';
import { newId, type Transaction } from '@customer-platform/database';
import { behindLock, eventually } from '@customer-platform/testing';
import { changed, ended, merged, startThings, type Things } from './contact-refs.fixture.js';
import type { Memory } from './things.module.js';

describe.each<Memory>(['ids', 'hashes'])(
  'contacts followed by a module that remembers erased %s',
  (memory) => {
    let things: Things;
    let organizationId: string;
    beforeAll(async () => {
      things = await startThings(memory);
    });
    afterAll(() => things.close());
    beforeEach(() => {
      organizationId = newId();
    });

    const known = (): Promise<Record<string, unknown>[]> => things.known(organizationId);
    const endOf = async (id: string): Promise<unknown> =>
      (await things.in(organizationId, (tx) => things.refs.ends(tx, [id]))).get(id);
    const keep = (id: string): Promise<Set<string>> =>
      things.in(organizationId, (tx) => things.refs.keepActive(tx, [id]));
    const erase = (id: string): Promise<void> =>
      things.in(organizationId, (tx) => things.refs.erase(tx, [id]));
    const put = (contactId: string): Promise<unknown> =>
      things.in(organizationId, (tx) =>
        tx.query('INSERT INTO things VALUES ($1, $2, $3, $3)', [organizationId, newId(), contactId]),
      );
    const holders = async (): Promise<string[]> => {
      const rows = await things.database.query<{ contact_id: string }>(
        'SELECT contact_id FROM things WHERE organization_id = $1 ORDER BY contact_id',
        [organizationId],
      );
      return rows.map((row) => row.contact_id);
    };

    it('any order of the same events, some of them twice, ends the same: the newest version holds', async () => {
      const versions = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 20 });
      const property = async (given: number[], size: number): Promise<void> => {
        const [own, elsewhere, id] = [newId(), newId(), newId()];
        const events = given.map((version) =>
          changed(version === 8 ? elsewhere : own, id, version, version % 2 === 0 ? 'deleted' : 'active'),
        );
        for (let at = 0; at < events.length; at += size)
          await things.follower.changed(events.slice(at, at + size));
        const version = Math.max(0, ...given.filter((each) => each !== 8));
        const state = version % 2 === 0 ? 'deleted' : 'active';
        expect(await things.known(own)).toEqual(
          version === 0 ? [] : [{ id, state, merged_into: null, version }],
        );
        expect(await things.known(elsewhere)).toHaveLength(given.includes(8) ? 1 : 0);
      };
      await fc.assert(fc.asyncProperty(versions, fc.integer({ min: 1, max: 5 }), property), { numRuns: 30 });
    });

    it('a contact changes, is merged, unmerged and purged; nothing older brings it back', async () => {
      const [id, survivor] = [newId(), newId()];
      const pair = { survivor, merged: id };
      const row = async (): Promise<unknown> => (await known()).find((each) => each['id'] === id);
      await things.follower.changed([
        changed(organizationId, id, 2, 'deleted'),
        changed(organizationId, id, 1),
      ]);
      expect(await row()).toMatchObject({ state: 'deleted', version: 2 });
      await things.follower.changed([changed(organizationId, id, 3)]);
      await things.follower.merged([merged(organizationId, { ...pair, version: 4 })]);
      expect(await row()).toEqual({ id, state: 'merged', merged_into: survivor, version: 4 });
      await things.follower.merged([merged(organizationId, { ...pair, version: 5 }, 'unmerged')]);
      expect(await row()).toEqual({ id, state: 'active', merged_into: null, version: 5 });
      await things.follower.ended([ended(organizationId, id, 6, 'purged')]);
      await things.follower.changed([changed(organizationId, id, 5)]);
      expect(await row()).toMatchObject({ state: 'purged', version: 6 });
    });

    it.each(['told of', 'asked for'])(
      'an erasure that is %s holds against whatever is told later',
      async (how) => {
        const [id, unknown] = [newId(), newId()];
        await things.follower.changed([changed(organizationId, id, 1)]);
        for (const each of [id, unknown]) {
          if (how === 'told of') await things.follower.ended([ended(organizationId, each, 2, 'erased')]);
          else await erase(each);
        }
        for (const each of [id, unknown]) {
          const state = { id: each, organizationId, state: 'active', mergedInto: null, version: 9 } as const;
          await things.follower.changed([changed(organizationId, each, 9)]);
          await things.in(organizationId, (tx) => things.refs.learn(tx, [state]));
          expect(await endOf(each)).toEqual({ id: each, state: 'erased' });
          expect(await keep(each)).toEqual(new Set());
          const contact = { organizationId, id: each };
          const erased = await things.in(organizationId, (tx) =>
            things.refs.erased(tx, [contact, { organizationId, id: newId() }]),
          );
          expect([...erased]).toEqual([`${organizationId}/${each}`]);
        }
        if (memory === 'hashes') expect(await known()).toEqual([]);
      },
    );

    it('an erasure leaves the same id of another organization alone', async () => {
      const [id, elsewhere] = [newId(), newId()];
      await things.follower.changed([changed(organizationId, id, 1), changed(elsewhere, id, 1)]);
      await erase(id);
      expect(await things.known(elsewhere)).toMatchObject([{ id, state: 'active' }]);
    });

    it('a contact merged into one that is erased is no contact any more', async () => {
      const [survivor, middle, first] = [newId(), newId(), newId()];
      await things.follower.merged([
        merged(organizationId, { survivor: middle, merged: first, version: 2 }),
        merged(organizationId, { survivor, merged: middle, version: 3 }),
      ]);
      await erase(survivor);
      for (const id of [survivor, middle, first]) expect(await endOf(id)).toMatchObject({ state: 'erased' });
      for (const id of [middle, first]) await erase(id);
      if (memory === 'hashes') expect(await known()).toEqual([]);
    });

    it.each(['the news', 'the erasure'])(
      'news of a contact and its erasure at once leave it erased, where %s was first',
      async (first) => {
        const id = newId();
        const news = async (tx: Transaction): Promise<void> => {
          await things.refs.write(tx, [
            { organizationId, id, state: 'active', mergedInto: null, version: 1 },
          ]);
        };
        const ending = (tx: Transaction): Promise<void> => things.refs.erase(tx, [id]);
        const [begins, follows] = first === 'the news' ? [news, ending] : [ending, news];
        const [done, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const open = things.in(organizationId, async (tx) => {
          await begins(tx);
          done.resolve();
          await goOn.promise;
        });
        await done.promise;
        const other = things.in(organizationId, follows);
        await eventually(async () =>
          expect(
            await things.database.query(
              `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
            ),
          ).toHaveLength(1),
        );
        goOn.resolve();
        await Promise.all([open, other]);
        expect(await endOf(id)).toMatchObject({ state: 'erased' });
        if (memory === 'hashes') expect(await known()).toEqual([]);
      },
    );

    it('of one version, the survivor may be told last', async () => {
      const [id, survivor] = [newId(), newId()];
      await things.follower.changed([changed(organizationId, id, 4)]);
      await things.follower.merged([merged(organizationId, { survivor, merged: id, version: 4 })]);
      expect(await endOf(id)).toEqual({ id: survivor, state: 'active' });
    });

    it('the longest chain of merges that core allows ends at its survivor, whatever order it is told in', async () => {
      const ids = Array.from({ length: 101 }, () => newId());
      const merges = ids
        .slice(1)
        .map((survivor, at) => merged(organizationId, { survivor, merged: ids[at] ?? '', version: at + 2 }));
      await things.follower.merged(merges.filter((_, at) => at % 2 === 1));
      await things.follower.merged(merges.filter((_, at) => at % 2 === 0).reverse());
      expect(await endOf(ids[0] ?? '')).toEqual({ id: ids.at(-1), state: 'active' });
      const family = await things.in(organizationId, (tx) => things.refs.family(tx, ids[50] ?? ''));
      expect(family.sort()).toEqual([...ids].sort());
    });

    it('a ring, as late events can make it seem, ends nowhere and keeps nobody waiting', async () => {
      const [a, b] = [newId(), newId()];
      const ring = [
        { organizationId, id: a, state: 'merged', mergedInto: b, version: 1 },
        { organizationId, id: b, state: 'merged', mergedInto: a, version: 1 },
      ] as const;
      await things.in(organizationId, (tx) => things.refs.write(tx, ring));
      expect(await endOf(a)).toMatchObject({ state: 'merged' });
      expect(await things.references.resolve(organizationId, [a])).toEqual(
        new Map([[a, { kind: 'absent' }]]),
      );
      const family = await things.in(organizationId, (tx) => things.refs.family(tx, a));
      expect(family.sort()).toEqual([a, b].sort());
    });

    it('an unknown contact, or survivor, is named without a state; letters may be large', async () => {
      const [id, survivor] = [newId(), newId()];
      const ref = { organizationId, id, state: 'merged', mergedInto: survivor, version: 1 } as const;
      await things.in(organizationId, (tx) => things.refs.write(tx, [ref]));
      expect(await endOf(id)).toEqual({ id: survivor, state: undefined });
      expect(await endOf(id.toUpperCase())).toEqual({ id: survivor, state: undefined });
      const unknown = newId();
      expect(await endOf(unknown)).toEqual({ id: unknown, state: undefined });
    });

    it('whoever keeps a contact active is waited for by a merge, and who comes later is told', async () => {
      const [id, survivor] = [newId(), newId()];
      await things.follower.changed([changed(organizationId, id, 1)]);
      const [kept, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const order: string[] = [];
      const writing = things.in(organizationId, async (tx) => {
        expect(await things.refs.keepActive(tx, [id])).toEqual(new Set([id]));
        kept.resolve();
        await goOn.promise;
        order.push('written');
      });
      await kept.promise;
      const merging = things.follower
        .merged([merged(organizationId, { survivor, merged: id, version: 2 })])
        .then(() => order.push('merged'));
      goOn.resolve();
      await Promise.all([writing, merging]);
      expect(order).toEqual(['written', 'merged']);
      expect(await keep(id)).toEqual(new Set());
    });

    it('writers of the same contacts of several organizations in any order wait instead of deadlocking', async () => {
      const organizations = [organizationId, newId(), newId()];
      const ids = Array.from({ length: 20 }, () => newId());
      const chunk = (version: number) =>
        organizations.flatMap((each) => ids.map((id) => changed(each, id, version)));
      const before = await deadlocks(things);
      const chunks = Array.from({ length: 12 }, (_, at) =>
        at % 2 ? chunk(at + 1).reverse() : chunk(at + 1),
      );
      await Promise.all(chunks.map((events) => things.follower.changed(events)));
      expect(await deadlocks(things)).toBe(before);
      for (const each of organizations)
        expect(await things.known(each)).toEqual(
          [...ids].sort().map((id) => ({ id, state: 'active', merged_into: null, version: 12 })),
        );
    });

    it('rows go where the merges of their contact end, in whatever order and however often these are told', async () => {
      const property = async (order: number[], size: number): Promise<void> => {
        organizationId = newId();
        const [a, b, c] = [newId(), newId(), newId()];
        for (const id of [a, b, c]) await put(id);
        const events = [
          merged(organizationId, { survivor: b, merged: a, version: 2 }),
          merged(organizationId, { survivor: c, merged: b, version: 3 }),
          merged(organizationId, { survivor: c, merged: b, version: 4 }, 'unmerged'),
          merged(organizationId, { survivor: b, merged: a, version: 5 }, 'unmerged'),
          merged(organizationId, { survivor: c, merged: a, version: 6 }),
        ];
        const all = [...order.map((at) => events[at]), ...events].flatMap((each) => each ?? []);
        for (let at = 0; at < all.length; at += size) await things.follower.merged(all.slice(at, at + size));
        expect(await holders()).toEqual([b, c, c].sort());
      };
      const orders = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 8 });
      await fc.assert(fc.asyncProperty(orders, fc.integer({ min: 1, max: 6 }), property), { numRuns: 20 });
    });

    it('rows of a contact that is gone go with it, also those that came with a merge', async () => {
      const [survivor, other, gone] = [newId(), newId(), newId()];
      for (const id of [survivor, other, gone]) await put(id);
      await things.follower.merged([merged(organizationId, { survivor, merged: gone, version: 2 })]);
      await things.follower.ended([ended(organizationId, survivor, 3, 'erased')]);
      await things.follower.merged([merged(organizationId, { survivor, merged: gone, version: 2 })]);
      await things.follower.ended([ended(organizationId, gone, 3, 'erased')]);
      expect(await holders()).toEqual([other]);
    });

    it('rows that part from an erased contact go where their own is merged at the same moment', async () => {
      const [gone, own, survivor] = [newId(), newId(), newId()];
      await put(own);
      await things.follower.merged([merged(organizationId, { survivor: gone, merged: own, version: 2 })]);
      // As core answers, before the undo is heard of.
      const now = { organizationId, id: own, state: 'active', mergedInto: null, version: 3 } as const;
      await things.in(organizationId, (tx) => things.refs.learn(tx, [now]));
      expect(await holders()).toEqual([gone]);
      const sql = `
        WITH merged AS (UPDATE contact_refs SET state = 'merged', merged_into = $2, version = 4 WHERE id = $1)
        UPDATE things SET contact_id = $2 WHERE origin_contact_id = $1`;
      const erased = (): Promise<void> =>
        things.in(organizationId, async (tx) => {
          await things.follower.erase(tx, [gone]);
          await things.follower.part(tx, [gone]);
        });
      await behindLock(things.database, { sql, values: [own, survivor] }, erased, () => undefined);
      expect(await holders()).toEqual([survivor]);
    });
  },
);

async function deadlocks({ database }: Things): Promise<number> {
  const [row] = await database.query<{ deadlocks: number }>(
    'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
  );
  return row?.deadlocks ?? NaN;
}
