import { setTimeout as pause } from 'node:timers/promises';
import { metrics } from '@customer-platform/http';
import { anOrganization } from '@customer-platform/testing';
import { DatabaseUnavailable, ItemJob, newId, type WorkerTransaction } from '../src/index.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

const OWNERS = `SELECT organization_id FROM jobs WHERE id <> ALL($1::uuid[]) GROUP BY organization_id ORDER BY min(id::text)`;
const NEXT = `
  SELECT own.* FROM unnest($1::uuid[]) AS turn (organization_id), LATERAL (
    SELECT organization_id, id FROM jobs WHERE organization_id = turn.organization_id AND id <> ALL($2::uuid[])
     ORDER BY id LIMIT 1 FOR UPDATE) AS own
   LIMIT 1`;

interface Row {
  organization_id: string;
  id: string;
}

/** Of an organization that is no child the tenant is itself. */
const tenantOf = new Map<string, string>();
const TENANTS = { whoseTurn: (id: string): string => tenantOf.get(id) ?? id };

let world: WidgetWorld;
let now: Date;
beforeAll(async () => {
  world = await aWidgetWorld(4);
});
beforeEach(async () => {
  now = new Date('2026-03-01T00:00:00Z');
  await world.test.query('DELETE FROM jobs');
});
afterAll(() => world.close());

/** Removes the rows that it takes; of some it fails after that. */
class Removing extends ItemJob<Row> {
  readonly faults = new Map<string, Error>();
  readonly worked: [organizationId: string, id: string][] = [];
  lookFails: Error | undefined;

  constructor(name: string) {
    super({ name, takes: 'rows of jobs', everyMs: 5 }, world.database, { now: () => now }, TENANTS);
  }

  protected owners(
    tx: WorkerTransaction,
    waiting: readonly string[],
  ): Promise<Pick<Row, 'organization_id'>[]> {
    if (this.lookFails) return Promise.reject(this.lookFails);
    return tx.query(OWNERS, [waiting]);
  }

  protected async next(
    tx: WorkerTransaction,
    organizationIds: readonly string[],
    waiting: readonly string[],
  ): Promise<Row | undefined> {
    const [row] = await tx.query<Row>(NEXT, [organizationIds, waiting]);
    return row;
  }

  protected async work(tx: WorkerTransaction, row: Row): Promise<void> {
    await tx.query('DELETE FROM jobs WHERE organization_id = $1 AND id = $2', [row.organization_id, row.id]);
    this.worked.push([tx.organizationId, row.id]);
    const fault = this.faults.get(row.id);
    if (fault) throw fault;
  }

  protected nameOf(row: Row): string {
    return row.id;
  }
}

/** Rows of as many organizations, in the order in which they are taken. */
async function rows(count: number): Promise<[organizationId: string, id: string][]> {
  const made = Array.from({ length: count }, () => newId())
    .sort()
    .map((id): [string, string] => [anOrganization().id, id]);
  for (const row of made)
    await world.test.query('INSERT INTO jobs (organization_id, id) VALUES ($1, $2)', row);
  return made;
}

async function left(): Promise<unknown[]> {
  const found = await world.test.query<Row>('SELECT id FROM jobs ORDER BY id');
  return found.map(({ id }) => id);
}

describe('a job of items', () => {
  it('does one after the other, each within its organization, and says whether there was any', async () => {
    const job = new Removing('items');
    const made = await rows(3);
    expect(await job.runNext()).toBe(true);
    expect(job.worked).toEqual(made.slice(0, 1));
    expect(await job.runAll()).toBe(true);
    expect(job.worked).toEqual(made);
    expect(await left()).toEqual([]);
    expect([await job.runNext(), await job.runAll()]).toEqual([false, false]);
  });

  it('leaves one that fails as it was, goes on with the others, and comes back to it', async () => {
    const job = new Removing('failing items');
    const [[, first] = ['', ''], [, second] = ['', '']] = await rows(2);
    job.faults.set(first, new Error('is at fault'));
    expect(await job.runAll()).toBe(true);
    expect(await left()).toEqual([first]);
    expect(job.worked.map(([, id]) => id)).toEqual([first, second]);
    const failures = await metrics.getSingleMetricAsString('job_failures_total');
    expect(failures).toContain('{job_name="failing items"} 1');
    job.faults.clear();
    expect(await job.runAll()).toBe(false);
    now = new Date(now.getTime() + 1_001);
    expect(await job.runAll()).toBe(true);
    expect(await left()).toEqual([]);
  });

  it('has others come first once an item of an organization failed, and goes on with its own where there are none', async () => {
    const job = new Removing('items that take turns');
    const [[failing, first] = ['', ''], [, second] = ['', ''], [other, third] = ['', '']] = await rows(3);
    await world.test.query('UPDATE jobs SET organization_id = $1 WHERE id = $2', [failing, second]);
    for (const id of [first, second])
      job.faults.set(id, Object.assign(new Error('canceled'), { code: '57014' }));
    expect(await job.runAll()).toBe(true);
    expect(job.worked).toEqual([
      [failing, first],
      [other, third],
      [failing, second],
    ]);
    expect(await left()).toEqual([first, second]);
  });

  it('gives the one neighbour of a tenant that has founded many organizations every other turn', async () => {
    const job = new Removing('items of tenants');
    const children = await rows(60);
    for (const [child] of children) tenantOf.set(child, 'a tenant');
    const neighbour = await rows(3);
    const [[own] = ['']] = neighbour;
    await world.test.query('UPDATE jobs SET organization_id = $1 WHERE id = ANY($2::uuid[])', [
      own,
      neighbour.map(([, id]) => id),
    ]);
    for (let turn = 0; turn < 6; turn += 1) expect(await job.runNext()).toBe(true);
    const [first, second, third] = children.map(([child]) => child);
    expect(job.worked.map(([id]) => id)).toEqual([first, own, second, own, third, own]);
    expect(await job.runAll()).toBe(true);
    expect(await left()).toEqual([]);
  });

  it('ends a pass at an outage, which the item that met it counts as a failure', async () => {
    const job = new Removing('items in an outage');
    const [[, first] = ['', ''], [, second] = ['', '']] = await rows(2);
    job.faults.set(first, Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
    await expect(job.runAll()).rejects.toThrow(DatabaseUnavailable);
    expect(await left()).toEqual([first, second]);
    expect(await job.runAll()).toBe(true);
    expect(await left()).toEqual([first]);
  });

  it('throws what lies in no item', async () => {
    const job = new Removing('items not found');
    job.lookFails = new Error('cannot look');
    await expect(job.runNext()).rejects.toThrow('cannot look');
    const failures = await metrics.getSingleMetricAsString('job_failures_total');
    expect(failures).toContain('{job_name="items not found"} 0');
  });
});

describe('a job of a provider', () => {
  const role = process.env['PROCESS_ROLE'];
  afterEach(() => {
    if (role === undefined) delete process.env['PROCESS_ROLE'];
    else process.env['PROCESS_ROLE'] = role;
  });

  it.each(['worker', 'all'])('runs with the application where PROCESS_ROLE is %s', async (each) => {
    process.env['PROCESS_ROLE'] = each;
    const job = new Removing(`items of ${each}`);
    await rows(1);
    job.onApplicationBootstrap();
    while ((await left()).length > 0) await pause(1);
    await job.onModuleDestroy();
    await rows(1);
    expect(await job.runAll()).toBe(false);
    expect(await left()).toHaveLength(1);
  });

  it('does not run in a process that serves requests only', async () => {
    process.env['PROCESS_ROLE'] = 'api';
    const job = new Removing('items of api');
    job.onApplicationBootstrap();
    const paces = await metrics.getSingleMetricAsString('job_pace_seconds');
    expect(paces).not.toContain('items of api');
    await job.onModuleDestroy();
  });
});
