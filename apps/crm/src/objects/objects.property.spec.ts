import fc from 'fast-check';
import { newId } from '@customer-platform/database';
import { draws, eventually, type Answer, type TestApp } from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../crm.fixture.js';
import { IndexBuilder } from './indexing/index-builder.js';
import { apply, bodyOf, isSound, type Command, type Model, type ModelField } from './object-model.fixture.js';
import { ObjectWorld } from './objects.fixture.js';
import { besideRecords, followsFrom, type Beside } from './derived-rows.fixture.js';

/** Definitions, each with changes and records of its own. */
const FEW = 25;
const MANY = 100;

let crm: TestCrm;
/** With a memory of its own: what it knows of definitions is as old as its last call. */
let other: TestApp;
beforeAll(async () => {
  crm = await startCrm();
  other = await crm.beside();
});
afterAll(() => crm.close());

const KEYS = ['f0', 'f1', 'f2', 'f3'];
const value = fc.constantFrom(null, 0, 1, 5, 50, 'a', 'aa', 'bbbb', 'x', 'y', 'z', true, false);
const values = fc.dictionary(fc.constantFrom(...KEYS, 'other'), value, { maxKeys: 3 });
const fieldOf = (key: string): fc.Arbitrary<ModelField> =>
  fc
    .record({
      key: fc.constant(key),
      type: fc.constantFrom('integer', 'string', 'enum', 'boolean'),
      required: fc.boolean(),
      unique: fc.boolean(),
      indexed: fc.boolean(),
      archived: fc.constantFrom(false, false, true),
      bound: fc.integer({ min: 1, max: 3 }),
    })
    .map((field) => ({ ...field, indexed: field.indexed || field.unique }));

/** What is done next, before it is known to what. */
type Step =
  | { kind: 'create'; values: Record<string, string | number | boolean | null> }
  | { kind: 'patch'; at: number; values: Record<string, string | number | boolean | null> }
  | { kind: 'delete' | 'restore' | 'purge'; at: number }
  | { kind: 'redefine'; at: number; field: ModelField; way: 'add' | 'remove' | 'change' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('create' as const), values }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('patch' as const), at: fc.nat(9), values }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('delete', 'restore', 'purge'), at: fc.nat(9) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('redefine' as const),
      at: fc.nat(3),
      field: fieldOf('any'),
      way: fc.constantFrom('add', 'remove', 'change'),
    }),
  },
);

it('definitions never have a record that they forbid, nor an index a value that no record has', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .uniqueArray(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 3 })
        .chain((keys) => fc.tuple(...keys.map(fieldOf))),
      fc.array(fc.array(step, { minLength: 1, maxLength: 2 }), { minLength: 3, maxLength: 8 }),
      async (fields, rounds) => {
        const run = await Run.begin(fields);
        for (const round of rounds) await run.do(round);
        await run.check();
      },
    ),
    draws(FEW, MANY),
  );
}, 600_000);

/** One definition in an organization of its own, and the model of it. */
class Run {
  private readonly worlds: readonly ObjectWorld[];
  private calls = 0;

  private constructor(
    private readonly world: ObjectWorld,
    private readonly definition: { id: string },
    private model: Model,
  ) {
    this.worlds = [world, new ObjectWorld(crm, world.organizationId, other)];
  }

  static async begin(fields: readonly ModelField[]): Promise<Run> {
    const world = new ObjectWorld(crm);
    const definition = await world.define('thing', fields.map(bodyOf));
    return new Run(world, definition, { fields, records: new Map() });
  }

  /** Several steps at once: what comes of them is what would have come of one after the other, in some order. */
  async do(steps: readonly Step[]): Promise<void> {
    const planned = steps.map((each) => this.commandOf(each));
    const done = await Promise.all(
      planned.map(async (command) => {
        const { status, body } = await this.call(command);
        const created = command.kind === 'create' && status === 201;
        return { status, command: created ? { ...command, id: (body as { id: string }).id } : command };
      }),
    );
    const orders = done.length === 2 ? [done, [...done].reverse()] : [done];
    const possible = orders.flatMap((order) => {
      let model = this.model;
      for (const { command, status } of order) {
        const outcome = apply(model, command);
        if (outcome.status !== status) return [];
        model = outcome.model;
      }
      return [model];
    });
    const present = followsFrom(await this.indexed());
    const fitting = possible.find(
      (model) => JSON.stringify(present(model)) === JSON.stringify(present(undefined)),
    );
    if (!fitting)
      throw new Error(`Not one after the other: ${JSON.stringify({ done, before: shown(this.model) })}`);
    this.model = fitting;
    expect(isSound(this.model)).toBe(true);
  }

  /** What the tables hold once every index is filled: one whose definition others had for themselves is left to the job. */
  private indexed(): Promise<Beside> {
    return eventually(async () => {
      await crm.app.app.get(IndexBuilder).runAll();
      const beside = await besideRecords(crm, this.world.organizationId);
      expect(beside.indexes.filter(({ state }) => state !== 'ready')).toEqual([]);
      return beside;
    });
  }

  async check(): Promise<void> {
    const { fields } = this.model;
    const live = [...this.model.records].filter(([, record]) => record.live);
    for (const { key } of fields.filter(({ indexed, archived }) => indexed && !archived)) {
      const sorted = await this.world.list('thing', `?sort=values.${key}&limit=200`);
      expect(sorted.map(({ id }) => id).sort()).toEqual(live.map(([id]) => id).sort());
      const without = await this.world.list('thing', `?values.${key}[is_null]=true&limit=200`);
      expect(without.map(({ id }) => id).sort()).toEqual(
        live.flatMap(([id, { values: own }]) => (key in own ? [] : [id])).sort(),
      );
    }
    expect((await this.world.definition(this.definition)).record_count).toBe(live.length);
  }

  /** By one service, then by the other. */
  private call(command: Command): Promise<Answer<unknown>> {
    this.calls += 1;
    const world = this.worlds[this.calls % 2] ?? this.world;
    switch (command.kind) {
      case 'create':
        return world.post('thing', command.values);
      case 'patch':
        return world.patch('thing', command, command.values);
      case 'delete':
        return world.delete('thing', command);
      case 'restore':
        return world.restore('thing', command);
      case 'purge':
        return world.delete('thing', command, '/purge');
      case 'redefine':
        return world.redefine(this.definition, { fields: command.fields.map(bodyOf) });
    }
  }

  private commandOf(each: Step): Command {
    if (each.kind === 'create') return { ...each, id: newId() };
    if (each.kind === 'redefine') return { kind: 'redefine', fields: this.changed(each) };
    const ids = [...this.model.records.keys()];
    const id = ids[each.at % Math.max(1, ids.length)] ?? newId();
    return each.kind === 'patch' ? { kind: 'patch', id, values: each.values } : { kind: each.kind, id };
  }

  private changed({ at, field, way }: Extract<Step, { kind: 'redefine' }>): ModelField[] {
    const fields = [...this.model.fields];
    const former = fields[at % Math.max(1, fields.length)];
    const free = KEYS.find((key) => fields.every((each) => each.key !== key));
    if (way === 'add' && free) return [...fields, { ...field, key: free }];
    if (!former) return fields;
    if (way === 'remove') return fields.filter((each) => each !== former);
    return fields.map((each) => (each === former ? { ...field, key: former.key, type: former.type } : each));
  }
}

function shown({ fields, records }: Model): object {
  return { fields, records: [...records] };
}
