import { eventually, expectStatus, startTestProcess, type TestProcess } from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../src/crm.fixture.js';
import { IndexBuilder } from '../src/objects/indexing/index-builder.js';
import { ObjectWorld } from '../src/objects/objects.fixture.js';

/** Changes of each definition by each process. */
const CHANGES = 25;
const WRITERS = 6;
const RECORDS = 2 * WRITERS;

/** What is asked for at the same time may be refused; what loses to another three times is answered 503. */
const REFUSED = [400, 404, 409, 422];

let crm: TestCrm;
let other: TestProcess;
beforeAll(async () => {
  crm = await startCrm();
  // Who waits in a circle is found at once.
  await crm.database.query(`DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = 50', current_database()); END $$`);
  const { url } = crm.modules;
  const env = { CORE_INTERNAL_URL: url, MESSAGING_INTERNAL_URL: url };
  const { database, app } = crm;
  other = await startTestProcess({ module: 'crm', registry: app.registry, database, env });
}, 240_000);
afterAll(async () => {
  await other.stop();
  await crm.close();
});

it('definitions, records, contacts and indexes that change at once never wait for each other in a circle', async () => {
  const crowd = await Crowd.gathered();
  const turns = [0, 1];
  await Promise.all([
    ...turns.flatMap((turn) => [crowd.redefine('vehicle', turn), crowd.redefine('policy', turn)]),
    ...Array.from({ length: WRITERS }, (_, writer) => crowd.write(writer)),
    ...turns.map((turn) => crowd.mergeAndErase(turn)),
    crowd.buildIndexes(),
  ]);
  expect(await deadlocks()).toBe(0);
  expect(crowd.statuses.filter((status) => status >= 300 && !REFUSED.includes(status))).toEqual([]);
  expect(crowd.statuses.filter((status) => status === 200).length).toBeGreaterThan(4 * CHANGES);
}, 300_000);

/** Of the database since it was made. A connection tells what it has counted at its end, at the latest. */
async function deadlocks(): Promise<number> {
  const ended = await crm.database.query<{ pid: number }>(
    `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  const left = 'SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int[])';
  const pids = ended.map(({ pid }) => pid);
  await eventually(async () => expect(await crm.database.query(left, [pids])).toEqual([]));
  const [row] = await crm.database.query<{ count: number }>(
    'SELECT deadlocks::int AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return row?.count ?? NaN;
}

/** Those who all work on the vehicles and policies of one organization, by two processes. */
class Crowd {
  /** Of all answers. */
  readonly statuses: number[] = [];
  private readonly world = new ObjectWorld(crm);
  private readonly worlds = [this.world, new ObjectWorld(crm, this.world.organizationId, other)];
  private readonly definitions = { vehicle: { id: '' }, policy: { id: '' } };
  private people: string[] = [];
  private readonly vehicles: { id: string }[] = [];
  private readonly policies: { id: string }[] = [];
  /** Those who change definitions; the others go on until they are done. */
  private changing = 4;

  static async gathered(): Promise<Crowd> {
    const crowd = new Crowd();
    const { world, definitions } = crowd;
    crowd.people = await world.contacts(8);
    definitions.vehicle = await world.define('vehicle');
    const fields = crowd.fieldsOf('vehicle', 0);
    expectStatus(await world.redefine(definitions.vehicle, { fields }), 200);
    definitions.policy = await world.define('policy', crowd.fieldsOf('policy', 0));
    for (let at = 0; at < RECORDS; at += 1) {
      const values = { owner: crowd.person(at), driver: crowd.person(at + 1), year: at, color: 'red' };
      crowd.vehicles.push(await world.add('vehicle', values));
    }
    for (const [at, { id: of }] of crowd.vehicles.entries())
      crowd.policies.push(
        await world.add('policy', { of, also: crowd.vehicle(at + 5).id, holder: crowd.person(at) }),
      );
    return crowd;
  }

  /** Each change has other indexes built and dropped. */
  async redefine(slug: 'vehicle' | 'policy', turn: number): Promise<void> {
    for (let at = 0; at < CHANGES; at += 1)
      await this.note(
        this.by(turn).redefine(this.definitions[slug], {
          name: `The ${slug} ${String(turn)}.${String(at)}`,
          fields: this.fieldsOf(slug, at + turn),
        }),
      );
    this.changing -= 1;
  }

  async write(writer: number): Promise<void> {
    const world = this.by(writer);
    for (let at = writer; this.changing > 0; at += 1) {
      await this.exchange(writer, at);
      const [own, before, after] = [this.vehicle(at), this.vehicle(at + 5), this.vehicle(at + 6)];
      const values = { owner: this.person(at), year: at, former: before.id, next: after.id };
      await this.note(world.patch('vehicle', own, values));
      const policy = this.policies[at % this.policies.length] ?? { id: '' };
      await this.note(world.patch('policy', policy, { of: after.id, also: before.id }));
      const { body: made } = await this.note(
        world.post('vehicle', { driver: this.person(at), color: 'blue' }),
      );
      if (at % 2 === 0) await this.note(world.post('policy', { of: made.id, holder: this.person(at + 3) }));
      await this.note(world.delete('vehicle', made));
      await this.note(world.delete('vehicle', made, '/purge'));
    }
  }

  /** People are merged and parted, and some end of whose vehicles policies tell. */
  async mergeAndErase(turn: number): Promise<void> {
    for (let at = turn; this.changing > 0; at += 2) {
      const [survivor, merged] = [this.person(at), this.person(at + 1)];
      await this.world.merge(survivor, merged);
      await this.world.merge(survivor, merged, 'unmerged');
      const [ending = ''] = await this.world.contacts(1);
      for (const key of ['owner', 'driver', 'owner']) {
        const { body } = await this.note(this.by(turn).post('vehicle', { [key]: ending, plate: ending }));
        const values = { of: body.id, also: this.vehicle(at).id, holder: ending };
        await this.note(this.by(turn).post('policy', values));
      }
      await this.world.end(ending, 'erased');
    }
  }

  /** Beside the other process, which does so by itself. */
  async buildIndexes(): Promise<void> {
    const builder = crm.app.app.get(IndexBuilder);
    while (this.changing > 0) await builder.runAll();
  }

  /** Of a pair of vehicles each has one of two values; both take the other's, and refer to the other. */
  private async exchange(pair: number, at: number): Promise<void> {
    const both = [this.vehicle(2 * pair), this.vehicle(2 * pair + 1)];
    const letter = (turn: number): string => `${String(pair)}${turn % 2 === 0 ? 'A' : 'B'}`;
    const patches = both.map((own, which) => {
      const values = {
        plate: letter(at + which),
        chassis: letter(at + which + 1),
        next: both[1 - which]?.id,
      };
      return (to: object) => this.note(this.by(which).patch('vehicle', own, { ...values, ...to }));
    });
    await Promise.all(patches.map((patch) => patch({})));
    for (const patch of patches) await patch({ plate: null, chassis: null });
    for (const patch of patches) await patch({});
  }

  private fieldsOf(slug: 'vehicle' | 'policy', turn: number): object[] {
    const target = this.definitions.vehicle.id;
    const reference = (key: string, more: object = {}): object => ({
      ...{ key, type: 'reference', target, ...more },
    });
    if (slug === 'policy')
      return [
        reference('of', { indexed: turn % 2 === 1 }),
        reference('also'),
        reference('holder', { target: 'contact', on_erasure: 'clear' }),
      ];
    return [
      reference('owner', { target: 'contact', indexed: true }),
      reference('driver', { target: 'contact', on_erasure: 'clear', indexed: turn % 2 === 0 }),
      reference('next'),
      reference('former'),
      ...['plate', 'chassis'].map((key) => ({ key, type: 'string', unique: true })),
      { key: 'year', type: 'integer', indexed: turn % 2 === 0 },
      { key: 'color', type: 'string', indexed: turn % 3 === 0 },
    ];
  }

  private by(turn: number): ObjectWorld {
    return this.worlds[turn % 2] ?? this.world;
  }

  private person(turn: number): string {
    return this.people[turn % this.people.length] ?? '';
  }

  private vehicle(turn: number): { id: string } {
    return this.vehicles[turn % this.vehicles.length] ?? { id: '' };
  }

  private async note<A extends { readonly status: number }>(call: Promise<A>): Promise<A> {
    const answer = await call;
    this.statuses.push(answer.status);
    return answer;
  }
}
