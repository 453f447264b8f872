import { Database, newId } from '@customer-platform/database';
import {
  TcpLink,
  eventually,
  startTestApp,
  testDatabase,
  TestRegistry,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import { coreApp } from '../../core.app.js';
import { aTrack, START_MS } from '../../core.fixture.js';
import { CORE_MIGRATIONS } from '../../migrations/core.migrations.js';
import { SHIPPED, TaxonomyCatalog } from '../taxonomy-catalog.js';
import { taxonomyIdOf, type Mode } from '../taxonomy.js';
import { Enforcements } from './enforcements.js';

const PERMISSIONS = ['core.taxonomies.install', 'core.events.write'] as const;
const BROKEN = { event: 'order_completed', properties: {} };
const [SHOP] = SHIPPED;

let database: TestDatabase;
let registry: TestRegistry;
/** One that is asked, and one behind a wire that can be cut. */
let one: TestApp;
let other: TestApp;
const wire = new TcpLink();

beforeAll(async () => {
  [database, registry] = await Promise.all([testDatabase('core', CORE_MIGRATIONS), TestRegistry.start()]);
  await wire.open();
  const env = { PROCESS_ROLE: 'api' };
  one = await startTestApp({ ...coreApp(), database, registry, env });
  const through = { ...database, url: wire.through(database.url) };
  other = await startTestApp({ ...coreApp(), database: through, registry, env });
}, START_MS);
afterAll(async () => {
  await other.close();
  await one.close();
  await wire.cut();
  await registry.close();
  await database.drop();
}, START_MS);

async function install(organizationId: string, mode: Mode): Promise<void> {
  const id = SHOP ? taxonomyIdOf(organizationId, SHOP) : '';
  const caller = one.as(organizationId, PERMISSIONS);
  const answer = await caller.post(`/v1/core/taxonomies/${id}/install`, { mode });
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
}

const statusAt = async (app: TestApp, organizationId: string): Promise<number> =>
  (await app.as(organizationId, PERMISSIONS).post('/v1/core/track', aTrack(BROKEN))).status;

/** What an instance enforces strictly, as far as it knows. */
const knownBy = async (enforcements: Enforcements, organizationId: string): Promise<boolean> =>
  (await enforcements.of(organizationId)).violations(BROKEN.event, BROKEN.properties, 'strict').length > 0;

describe('what an organization has installed', () => {
  it('counts at once where it was installed, and soon on every other instance, back and forth', async () => {
    const id = newId();
    expect([await statusAt(one, id), await statusAt(other, id)]).toEqual([202, 202]);
    await install(id, 'strict');
    expect(await statusAt(one, id)).toBe(400);
    await eventually(async () => expect(await statusAt(other, id)).toBe(400));
    await install(id, 'off');
    expect(await statusAt(one, id)).toBe(202);
    await eventually(async () => expect(await statusAt(other, id)).toBe(202));
  });

  it('is read once for many, and then not for each event', async () => {
    const counted = counting(one.app.get(Database, { strict: false }));
    const enforcements = new Enforcements(counted.database, new TaxonomyCatalog());
    const ids = Array.from({ length: 300 }, () => newId());
    await install(ids[7] ?? '', 'strict');
    await Promise.all(ids.map((id) => enforcements.of(id)));
    await eventually(() => expect(ids.every((id) => enforcements.peek(id) !== undefined)).toBe(true));
    const strict = await Promise.all(ids.map((id) => knownBy(enforcements, id)));
    expect(strict.flatMap((is, at) => (is ? [at] : []))).toEqual([7]);
    expect(counted.transactions()).toBe(1);
  });

  it('keeps twenty thousand organizations, and forgets who was not asked for the longest', async () => {
    const enforcements = new Enforcements(one.app.get(Database, { strict: false }), new TaxonomyCatalog());
    const ids = Array.from({ length: 20_001 }, () => newId());
    for (const id of ids.slice(0, 20_000)) enforcements.put(id, []);
    expect(enforcements.peek(ids[0] ?? '')).toBeDefined();
    enforcements.put(ids[20_000] ?? '', []);
    expect(ids.flatMap((id, at) => (enforcements.peek(id) ? [] : [at]))).toEqual([1]);
  });
});

describe('while the database is away', () => {
  it('the last known stands, and what nobody knows is taken; then what is new counts', async () => {
    const enforcements = other.app.get(Enforcements, { strict: false });
    const [known, unknown] = [newId(), newId()];
    await install(known, 'strict');
    await install(unknown, 'strict');
    await eventually(async () => expect(await knownBy(enforcements, known)).toBe(true));
    await wire.cut();
    expect([await knownBy(enforcements, known), await knownBy(enforcements, unknown)]).toEqual([true, false]);
    await install(known, 'off');
    await wire.open();
    await eventually(
      async () => {
        const both = [await knownBy(enforcements, known), await knownBy(enforcements, unknown)];
        expect(both).toEqual([false, true]);
      },
      { within: 30_000 },
    );
  });

  it('nobody waits for a database that says nothing', async () => {
    const silent = new Promise<never>(() => undefined);
    const database_ = { acrossOrganizations: () => silent } as unknown as Database;
    const enforcements = new Enforcements(database_, new TaxonomyCatalog());
    expect(await Promise.all([newId(), newId()].map((id) => knownBy(enforcements, id)))).toEqual([
      false,
      false,
    ]);
  });
});

function counting(real: Database): { database: Database; transactions: () => number } {
  let count = 0;
  const acrossOrganizations: Database['acrossOrganizations'] = (...given) => {
    count += 1;
    return real.acrossOrganizations(...given);
  };
  return { database: { acrossOrganizations } as Database, transactions: () => count };
}
