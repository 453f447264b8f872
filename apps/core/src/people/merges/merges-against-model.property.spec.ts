import fc from 'fast-check';
import { draws, type Caller } from '@customer-platform/testing';
import { SegmentWorld } from '../../segments/segment.fixture.js';
import { MERGE } from './merge.fixture.js';

/** Contacts of one history. */
const CONTACTS = 4;
const FIELDS = ['first_name', 'last_name', 'attributes.plan', 'attributes.city'] as const;
type Field = (typeof FIELDS)[number];

const START = Date.parse('2026-06-15T12:00:00.000Z');
const STEP_MS = 60_000;

interface Cell {
  value: string | null;
  time: number | null;
}
type Profile = Record<Field, Cell>;

/** What happens; contacts and merges are named by number, `at` by how many steps ago. */
type Step =
  | { kind: 'patch'; contact: number; values: Partial<Record<Field, string | null>> }
  | { kind: 'identify'; contact: number; values: Partial<Record<Field, string | null>>; at: number }
  | { kind: 'track'; contact: number }
  | { kind: 'merge'; survivor: number; merged: number; keep: Partial<Record<Field, 'survivor' | 'merged'>> }
  | { kind: 'undo'; merge: number }
  | { kind: 'delete' | 'restore'; contact: number };

interface ModelMerge {
  id: string;
  survivor: number;
  merged: number;
  before: Profile;
  after: Profile;
  standing: boolean;
}

/** Merging in the plainest words: copies of profiles, and who went up in whom. */
class Model {
  readonly profiles: Profile[] = Array.from({ length: CONTACTS }, () => profile());
  readonly into: (number | null)[] = Array<number | null>(CONTACTS).fill(null);
  readonly deleted: boolean[] = Array<boolean>(CONTACTS).fill(false);
  readonly merges: ModelMerge[] = [];

  root(contact: number): number {
    let at = contact;
    for (let next = this.into[at]; next != null; next = this.into[at]) at = next;
    return at;
  }

  say(contact: number, values: Partial<Record<Field, string | null>>, time: number): void {
    const cells = this.of(contact);
    for (const [field, value] of Object.entries(values) as [Field, string | null][]) {
      if ((cells[field].time ?? -Infinity) <= time) cells[field] = { value, time };
    }
  }

  mayMerge(survivor: number, merged: number): 200 | 409 | 422 {
    if (this.into[merged] === survivor && this.into[survivor] === null) return 200;
    if (this.into[survivor] !== null || this.into[merged] !== null) return 409;
    return this.deleted[survivor] || this.deleted[merged] ? 422 : 200;
  }

  merge(
    id: string,
    survivor: number,
    merged: number,
    keep: Partial<Record<Field, 'survivor' | 'merged'>>,
  ): void {
    if (this.into[merged] === survivor) return;
    const [own, other] = [this.of(survivor), this.of(merged)];
    const before = structuredClone(own);
    for (const field of FIELDS) {
      const side =
        keep[field] ?? (own[field].value === null && other[field].value !== null ? 'merged' : 'survivor');
      const value = side === 'merged' ? other[field].value : own[field].value;
      const times = [own[field].time, other[field].time].filter((time) => time !== null);
      own[field] = { value, time: times.length > 0 ? Math.max(...times) : null };
    }
    this.into[merged] = survivor;
    this.merges.push({ id, survivor, merged, before, after: structuredClone(own), standing: true });
  }

  mayUndo(at: number): boolean {
    const merge = this.merges[at];
    if (!merge) return false;
    const later = this.merges.slice(at + 1);
    const hasLater = later.some(({ survivor, standing }) => standing && survivor === merge.survivor);
    return !merge.standing || (this.into[merge.survivor] === null && !hasLater);
  }

  undo(at: number): void {
    const merge = this.merges[at];
    if (!merge?.standing) return;
    const own = this.of(merge.survivor);
    for (const field of FIELDS) {
      const [now, after] = [own[field], merge.after[field]];
      if (now.value === after.value && now.time === after.time) own[field] = merge.before[field];
    }
    this.into[merge.merged] = null;
    merge.standing = false;
  }

  of(contact: number): Profile {
    const found = this.profiles[contact];
    if (!found) throw new Error('there is no such contact');
    return found;
  }
}

function profile(): Profile {
  const cell = (): Cell => ({ value: null, time: null });
  return { first_name: cell(), last_name: cell(), 'attributes.plan': cell(), 'attributes.city': cell() };
}

const contact = fc.integer({ min: 0, max: CONTACTS - 1 });
const value = fc.option(fc.constantFrom('one', 'two'));
const values = fc.record(
  { first_name: value, last_name: value, 'attributes.plan': value, 'attributes.city': value },
  { requiredKeys: [] },
);
const side = fc.constantFrom('survivor' as const, 'merged' as const);
const keep = fc.record({ first_name: side, 'attributes.plan': side }, { requiredKeys: [] });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('patch' as const), contact, values }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('identify' as const),
      contact,
      values,
      at: fc.integer({ min: 0, max: 6 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('track' as const), contact }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('merge' as const), survivor: contact, merged: contact, keep }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('undo' as const), merge: fc.integer({ min: 0, max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'restore' as const), contact }),
  },
);

/** One history: the service and the model, side by side. */
class History {
  private readonly model = new Model();
  private readonly ids: string[] = [];
  private readonly organizationId: string;
  private readonly caller: Caller;
  private now = START;
  private events = 0;

  constructor(private readonly world: SegmentWorld) {
    ({ id: this.organizationId, caller: this.caller } = world.anOrganization());
  }

  async begin(): Promise<void> {
    for (let n = 0; n < CONTACTS; n += 1) {
      this.pass();
      const { body } = await this.caller.post<{ id: string }>('/v1/core/contacts', {
        external_id: `e${String(n)}`,
      });
      this.ids.push(body.id);
    }
  }

  async take(step: Step): Promise<void> {
    this.pass();
    switch (step.kind) {
      case 'patch':
        return this.patch(step.contact, step.values);
      case 'identify':
        return this.identify(step);
      case 'track':
        return this.store(step.contact, undefined, this.now);
      case 'merge':
        return this.merge(step);
      case 'undo':
        return this.undo(step.merge);
      case 'delete':
      case 'restore':
        return this.deleteOrRestore(step.kind, step.contact);
    }
  }

  /** Everything that can be undone is, last first. */
  async unwind(): Promise<void> {
    for (let at = this.model.merges.length - 1; at >= 0; at -= 1) {
      this.pass();
      if (this.model.merges[at]?.standing) await this.undo(at);
    }
    expect(this.model.into).toEqual(Array(CONTACTS).fill(null));
  }

  async check(): Promise<void> {
    for (let n = 0; n < CONTACTS; n += 1) {
      const answer = await this.caller.get<Record<string, unknown>>(`/v1/core/contacts/${this.id(n)}`);
      const root = this.model.root(n);
      if (root !== n) {
        expect([answer.status, answer.headers.get('location')]).toEqual([
          307,
          `/v1/core/contacts/${this.id(root)}`,
        ]);
        continue;
      }
      expect(answer.status).toBe(200);
      const attributes = answer.body['attributes'] as Record<string, unknown>;
      const seen = {
        first_name: answer.body['first_name'],
        last_name: answer.body['last_name'],
        'attributes.plan': attributes['plan'] ?? null,
        'attributes.city': attributes['city'] ?? null,
        deleted: answer.body['deleted_at'] !== null,
      };
      const cells = this.model.of(n);
      const expected = Object.fromEntries(FIELDS.map((field) => [field, cells[field].value]));
      expect(seen).toEqual({ ...expected, deleted: this.model.deleted[n] });
    }
    await this.checkRows();
  }

  /** Events and identities stand where their external id leads, each once. */
  private async checkRows(): Promise<void> {
    const { query } = this.world.core.database;
    const owners = (table: string, column: string) =>
      query<{ external_id: string; contact_id: string; count: number }>(
        `SELECT ${column} AS external_id, contact_id, count(*)::int AS count FROM ${table}
          WHERE organization_id = $1 GROUP BY 1, 2`,
        [this.organizationId],
      );
    const events = await owners('events', 'external_id');
    const identities = await owners('identities', 'value');
    for (const { external_id: externalId, contact_id: owner } of [...events, ...identities]) {
      expect([externalId, owner]).toEqual([
        externalId,
        this.id(this.model.root(Number(externalId.slice(1)))),
      ]);
    }
    expect(events.reduce((sum, { count }) => sum + count, 0)).toBe(this.events);
    expect(identities).toHaveLength(CONTACTS);
    const moved = await query(
      'SELECT 1 FROM events WHERE organization_id = $1 AND origin_id IS NOT NULL AND origin_id = contact_id',
      [this.organizationId],
    );
    expect(moved).toEqual([]);
  }

  private async patch(contact: number, given: Partial<Record<Field, string | null>>): Promise<void> {
    const { status } = await this.caller.patch(`/v1/core/contacts/${this.id(contact)}`, bodyOf(given));
    const refused = this.model.into[contact] !== null || this.model.deleted[contact];
    expect(status).toBe(refused ? 409 : 200);
    if (!refused) this.model.say(contact, given, this.now);
  }

  private async identify(step: Extract<Step, { kind: 'identify' }>): Promise<void> {
    const at = this.now - step.at * STEP_MS;
    await this.store(step.contact, traitsOf(step.values), at);
    const root = this.model.root(step.contact);
    if (!this.model.deleted[root]) this.model.say(root, step.values, at);
  }

  private async store(
    contact: number,
    traits: Record<string, unknown> | undefined,
    at: number,
  ): Promise<void> {
    this.events += 1;
    await this.world.store(this.organizationId, [
      {
        externalId: `e${String(contact)}`,
        at: new Date(at).toISOString(),
        ...(traits ? { kind: 'identify' as const, traits } : {}),
      },
    ]);
  }

  private async merge({ survivor, merged, keep: kept }: Extract<Step, { kind: 'merge' }>): Promise<void> {
    const body = { survivor_id: this.id(survivor), merged_id: this.id(merged), keep: kept };
    const answer = await this.caller.post<{ merge_id: string }>(MERGE, body);
    if (survivor === merged) return expect(answer.status).toBe(400);
    expect(answer.status).toBe(this.model.mayMerge(survivor, merged));
    if (answer.status === 200) this.model.merge(answer.body.merge_id, survivor, merged, kept);
  }

  private async undo(at: number): Promise<void> {
    const merge = this.model.merges[at];
    if (!merge) return;
    const { status } = await this.caller.post(MERGE, { undo_merge_id: merge.id });
    const may = this.model.mayUndo(at);
    expect(status).toBe(may ? 200 : 409);
    if (may) this.model.undo(at);
  }

  private async deleteOrRestore(kind: 'delete' | 'restore', contact: number): Promise<void> {
    const path = `/v1/core/contacts/${this.id(contact)}`;
    const merged = this.model.into[contact] !== null;
    if (kind === 'delete') {
      expect((await this.caller.delete(path)).status).toBe(merged ? 409 : 204);
      if (!merged) this.model.deleted[contact] = true;
      return;
    }
    const may = !merged && this.model.deleted[contact];
    expect((await this.caller.post(`${path}/restore`)).status).toBe(may ? 200 : 409);
    if (may) this.model.deleted[contact] = false;
  }

  private id(contact: number): string {
    return this.ids[contact] ?? '';
  }

  private pass(): void {
    this.now += STEP_MS;
    this.world.stopClock(this.now);
  }
}

function bodyOf(given: Partial<Record<Field, string | null>>): Record<string, unknown> {
  const { 'attributes.plan': plan, 'attributes.city': city, ...fields } = given;
  const attributes = { ...(plan === undefined ? {} : { plan }), ...(city === undefined ? {} : { city }) };
  return { ...fields, ...(Object.keys(attributes).length > 0 ? { attributes } : {}) };
}

function traitsOf(given: Partial<Record<Field, string | null>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).map(([field, sent]) => [field.replace('attributes.', ''), sent]),
  );
}

describe('merges, undos, writes and events', () => {
  let world: SegmentWorld;
  beforeAll(async () => {
    world = await SegmentWorld.start();
  }, 60_000);
  afterAll(async () => {
    world.stopClock();
    await world.close();
  });

  it('end as in the plain model, whatever their order, and part into what each was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const history = new History(world);
        await history.begin();
        for (const each of steps) await history.take(each);
        await history.check();
        await history.unwind();
        await history.check();
      }),
      draws(12, 40),
    );
  }, 240_000);
});
