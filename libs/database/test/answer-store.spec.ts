import { anOrganization, DatabaseFault, eventually, TcpLink } from '@customer-platform/testing';
import type { IdempotencyScope, StoredAnswer } from '@customer-platform/http';
import { Clock, DatabaseUnavailable, newId, Retention } from '../src/index.js';
import { AnswerStore, EXPIRED_ANSWERS } from '../src/idempotency/answer.store.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

class MovableClock extends Clock {
  offset = 0;

  override now(): Date {
    return new Date(Date.now() + this.offset);
  }
}

const MINUTE = 60_000;
const DAY = 86_400_000;
const MADE: StoredAnswer = { status: 201, headers: { Location: '/v1/x' }, body: { id: 'x' } };

describe('answers that libs/http keeps', () => {
  const wire = new TcpLink();
  let world: WidgetWorld;
  let clock: MovableClock;
  beforeAll(async () => {
    await wire.open();
    world = await aWidgetWorld(6, (url) => wire.through(url));
  });
  afterAll(async () => {
    await world.close();
    await wire.cut();
  });
  beforeEach(() => {
    clock = new MovableClock();
  });

  const store = (): AnswerStore => new AnswerStore(world.database, clock);
  const aScope = (): IdempotencyScope => ({
    organizationId: anOrganization().id,
    route: 'POST /v1/widgets',
    key: newId(),
  });

  async function claimed(scope: IdempotencyScope): Promise<string> {
    const claim = await store().claim(scope, 'print', MINUTE);
    if (claim.state !== 'claimed') throw new Error(`The key is ${claim.state}`);
    return claim.claimId;
  }
  const perform = <T>(scope: IdempotencyScope, claimId: string, run: () => Promise<T>, answer = MADE) =>
    store().perform(scope, claimId, run, { of: () => answer, keepMs: DAY });
  const insert = ({ organizationId }: IdempotencyScope): Promise<unknown> =>
    world.database.inOrganization({ organizationId }, (tx) =>
      tx.query('INSERT INTO jobs VALUES ($1, $2)', [organizationId, newId()]),
    );
  const effects = async ({ organizationId }: IdempotencyScope): Promise<number> => {
    const [row] = await world.test.query<{ count: number }>(
      `SELECT count(*)::int FROM jobs WHERE organization_id = '${organizationId}'`,
    );
    return row?.count ?? 0;
  };

  it('is claimed by one of 20 at once; the others see it running, then answered', async () => {
    const scope = aScope();
    const claims = await Promise.all(Array.from({ length: 20 }, () => store().claim(scope, 'print', MINUTE)));
    const [mine, ...more] = claims.filter((claim) => claim.state === 'claimed');
    expect(more).toEqual([]);
    expect(claims.filter(({ state }) => state === 'in_progress')).toHaveLength(19);
    await perform(scope, mine?.claimId ?? '', () => insert(scope));
    const answered = { state: 'answered', fingerprint: 'print', answer: MADE };
    expect(await store().claim(scope, 'other', MINUTE)).toEqual(answered);
  });

  it('is free again when released, and when the lease of a dead process has run out', async () => {
    const scope = aScope();
    await store().release(scope, await claimed(scope));
    const second = await claimed(scope);
    clock.offset = 2 * MINUTE;
    const third = await claimed(scope);
    // Whoever lost the claim meanwhile leaves nothing.
    await expect(perform(scope, second, () => insert(scope))).rejects.toMatchObject({
      code: 'idempotency_in_progress',
    });
    expect([await effects(scope), (await store().claim(scope, 'print', MINUTE)).state]).toEqual([
      0,
      'in_progress',
    ]);
    await perform(scope, third, () => insert(scope));
    await store().release(scope, third);
    expect(await effects(scope)).toBe(1);
    expect(await store().claim(scope, 'print', MINUTE)).toMatchObject({ state: 'answered', answer: MADE });
  });

  it('is kept of what wrote nothing, too', async () => {
    const scope = aScope();
    const looked = await perform(scope, await claimed(scope), () => effects(scope), { ...MADE, body: 0 });
    expect(looked).toBe(0);
    expect(await store().claim(scope, 'print', MINUTE)).toMatchObject({ answer: { body: 0 } });
  });

  it('forgets answers whose day is over and sweeps them away', async () => {
    const scope = aScope();
    await perform(scope, await claimed(scope), () => insert(scope));
    clock.offset = DAY + MINUTE;
    const retention = new Retention(world.database, clock, EXPIRED_ANSWERS);
    expect(await retention.sweep()).toBeGreaterThan(0);
    expect((await store().claim(scope, 'other', MINUTE)).state).toBe('claimed');
  });

  it('commits all that the call writes with its answer, of whatever transactions', async () => {
    const scope = aScope();
    const other = anOrganization().id;
    const { database } = world;
    const claimId = await claimed(scope);
    const ran: string[] = [];
    await perform(scope, claimId, async () => {
      await database.inOrganization(scope, (tx) => tx.query('SELECT 1'));
      await database.inOrganization(scope, async (tx) => {
        tx.afterCommit(() => ran.push('hook'));
        await tx.query('INSERT INTO jobs VALUES ($1, $2)', [scope.organizationId, newId()]);
      });
      await database.acrossOrganizations(async (tx) => {
        await tx.useOrganization(other);
        await tx.query('INSERT INTO jobs VALUES ($1, $2)', [other, newId()]);
        // One inside the other, and beside each other.
        await Promise.all([insert(scope), insert(scope)]);
      });
      const failing = database.inOrganization(scope, async (tx) => {
        await tx.query('INSERT INTO jobs VALUES ($1, $2)', [scope.organizationId, newId()]);
        throw new Error('refused');
      });
      await expect(failing).rejects.toThrow('refused');
      // As in a transaction of its own: it sees its organization's and no other's, and not as a worker.
      const seen = await database.inOrganization({ organizationId: other }, async (tx) => [
        tx.organizationId,
        (await tx.query('SELECT 1 FROM jobs')).length,
      ]);
      expect(seen).toEqual([other, 1]);
      const all = await database.acrossOrganizations((tx) =>
        tx.query('SELECT 1 FROM jobs WHERE organization_id = ANY($1::uuid[])', [
          [other, scope.organizationId],
        ]),
      );
      expect(all).toHaveLength(4);
      expect([await effects(scope), await effects({ ...scope, organizationId: other }), ran]).toEqual([
        0,
        0,
        [],
      ]);
    });
    expect([await effects(scope), await effects({ ...scope, organizationId: other }), ran]).toEqual([
      3,
      1,
      ['hook'],
    ]);
  });

  it('leaves nothing of a call that is refused behind what it wrote, but what was written alone', async () => {
    const scope = aScope();
    const { database } = world;
    const running = perform(scope, await claimed(scope), async () => {
      await insert(scope);
      await database.inOrganization(
        scope,
        (tx) => tx.query('INSERT INTO jobs VALUES ($1, $2)', [scope.organizationId, newId()]),
        { alone: true },
      );
      throw new Error('refused');
    });
    await expect(running).rejects.toThrow('refused');
    expect(await effects(scope)).toBe(1);
  });

  it('leaves neither effect nor answer where the answer cannot be kept', async () => {
    const scope = aScope();
    const claimId = await claimed(scope);
    const fault = await DatabaseFault.in(world.test, {
      table: 'idempotency_keys',
      on: 'UPDATE',
      when: `NEW.organization_id = '${scope.organizationId}' AND NEW.status IS NOT NULL`,
    });
    await expect(perform(scope, claimId, () => insert(scope))).rejects.toThrow('refused');
    await fault.mend();
    expect(await effects(scope)).toBe(0);
    await store().release(scope, claimId);
    await perform(scope, await claimed(scope), () => insert(scope));
    expect(await effects(scope)).toBe(1);
  });

  it('has effect and answer of a commit whose outcome the process never learns', async () => {
    const scope = aScope();
    const { test } = world;
    const claimId = await claimed(scope);
    // The commit waits in Postgres, where it is found by what it waits for.
    await test.query(`
      CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON jobs DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.organization_id = '${scope.organizationId}') EXECUTE FUNCTION wait_at_commit();
      SELECT pg_advisory_lock(4711)`);
    const running = perform(scope, claimId, () => insert(scope));
    const lost = expect(running).rejects.toBeInstanceOf(DatabaseUnavailable);
    const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    await eventually(async () => expect(await test.query(waiting)).toHaveLength(1));
    await wire.cut();
    await lost;
    await wire.open();
    const released = eventually(() => store().release(scope, claimId));
    await test.query('SELECT pg_advisory_unlock(4711)');
    await released;
    expect(await store().claim(scope, 'print', MINUTE)).toMatchObject({ state: 'answered', answer: MADE });
    expect(await effects(scope)).toBe(1);
    await test.query('DROP TRIGGER wait_at_commit ON jobs; DROP FUNCTION wait_at_commit');
  });
});
