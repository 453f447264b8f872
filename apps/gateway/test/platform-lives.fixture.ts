import {
  Caller,
  expectStatus,
  hasTwin,
  LIFE_ACTS,
  MODULES,
  PlatformUnderTest,
  eventually,
  searchEverything,
  type Act,
  type LifeRecord,
  type LifeOrganization,
  type LifeWorld,
  type Module,
} from '@customer-platform/testing';
import { prepareChain } from './chain.fixture.js';

const BESIDE = 'core beside';
const STOPPABLE: readonly Module[] = ['crm', 'loyalty', 'messaging'];
/** Acts that are done from within a process. */
const FROM_WITHIN: readonly Act[] = ['seal anew', 'withdraw meanwhile'];
/** Points of one purchase. */
const POINTS = 12;

interface Contact {
  id: string;
  into: string | null;
  deleted: boolean;
  erased: boolean;
}

interface Known {
  id: string;
  state: string;
  into: string | null;
}

const CONTACTS = `
  SELECT id, merged_into AS "into", deleted_at IS NOT NULL AS deleted, erased_at IS NOT NULL AS erased
    FROM contacts WHERE organization_id = $1`;
const knownIn = (table: string): string =>
  `SELECT id, state, merged_into AS "into" FROM ${table} WHERE organization_id = $1`;
const KNOWN: readonly (readonly [Module, string])[] = [
  ['crm', knownIn('contact_refs')],
  ['loyalty', knownIn('contact_refs')],
  ['messaging', knownIn('contacts')],
];

/** The whole platform as processes, core by two of them. */
export class PlatformLives implements LifeWorld {
  readonly acts = LIFE_ACTS.filter((act) => !FROM_WITHIN.includes(act));
  readonly stoppable = [BESIDE, ...STOPPABLE];
  private beside: string | undefined;

  private constructor(private readonly platform: PlatformUnderTest) {}

  static async start(): Promise<PlatformLives> {
    const lives = new PlatformLives(await PlatformUnderTest.start());
    await lives.start(BESIDE);
    return lives;
  }

  async stop(name: string): Promise<void> {
    if (name === BESIDE) this.beside = undefined;
    await this.platform.processes[name]?.crash();
  }

  async start(name: string): Promise<void> {
    const module = STOPPABLE.find((each) => each === name);
    if (module) await this.platform.restart(module);
    else this.beside = await this.platform.startBeside('core');
  }

  async anOrganization(): Promise<LifeOrganization> {
    const tenant = await this.platform.tenant();
    await prepareChain(tenant);
    const { id, admin, adminKey } = tenant;
    const callers = (): [Caller, ...Caller[]] => [
      admin,
      ...(this.beside === undefined ? [] : [new Caller(this.beside, adminKey, () => true, false)]),
    ];
    return { id, callers };
  }

  member(token: string): Caller {
    return this.platform.as(token);
  }

  readonly query: LifeWorld['query'] = (sql, values) => this.platform.query('core', sql, values);

  sealAnew(): Promise<void> {
    throw new Error('The keys of processes that run do not change');
  }

  async oneAfterTheOther<T, U>(
    _: string,
    first: () => Promise<T>,
    second: () => Promise<U>,
  ): Promise<[T, U]> {
    return [await first(), await second()];
  }

  async completed({ callers }: LifeOrganization, id: string): Promise<void> {
    await eventually(
      async () => {
        const answer = await callers()[0].get<{ state: string }>(`/v1/core/subject-requests/${id}`);
        expectStatus(answer, 200);
        expect(answer.body.state).toBe('completed');
      },
      { within: 120_000, every: 250 },
    );
  }

  async search(organizationId: string, sought: readonly string[]): Promise<readonly string[]> {
    const found: string[] = [];
    for (const module of MODULES) {
      const query = <Row>(sql: string, values?: unknown[]) => this.platform.query<Row>(module, sql, values);
      const looked = await searchEverything({ query }, organizationId, sought);
      found.push(...looked.found.map((place) => `${module}.${place}`));
    }
    return found;
  }

  async checkModules({ id, callers }: LifeOrganization, deeds: LifeRecord): Promise<void> {
    await this.checkKnown(id);
    await this.checkNotes(id, deeds);
    await this.checkDeclined(id, deeds);
    await this.checkConsents(id, callers()[0], deeds);
    await this.checkOnce(id, deeds);
  }

  stopAll(): Promise<void> {
    return this.platform.stop();
  }

  /** Each module knows who is there, who is gone, and who is in whom. */
  private async checkKnown(organizationId: string): Promise<void> {
    const contacts = await this.platform.query<Contact>('core', CONTACTS, [organizationId]);
    for (const [module, sql] of KNOWN) {
      const known = await this.platform.query<Known>(module, sql, [organizationId]);
      const byId = new Map(known.map((each) => [each.id, each]));
      for (const { id, into, deleted, erased } of contacts) {
        const own = byId.get(id);
        if (!own || erased) continue;
        const state = into !== null ? 'merged' : deleted ? 'deleted' : 'active';
        expect([module, id, own.state, own.into]).toEqual([module, id, state, into]);
      }
      const there = contacts.filter(({ erased }) => !erased).map(({ id }) => id);
      const held = known.filter(({ state }) => state === 'active').map(({ id }) => id);
      expect([module, held.filter((id) => !there.includes(id))]).toEqual([module, []]);
    }
  }

  /** Each stands with whoever it is about now. */
  private async checkNotes(organizationId: string, { notes, people }: LifeRecord): Promise<void> {
    const sql = 'SELECT id, contact_id AS contact FROM notes WHERE organization_id = $1';
    const rows = await this.platform.query<{ id: string; contact: string }>('crm', sql, [organizationId]);
    const stored = new Map(rows.map(({ id, contact }) => [id, contact]));
    for (const { id, person } of notes) {
      const { gone } = people.of(person);
      if (gone === undefined)
        expect(['note', person, stored.get(id)]).toEqual([
          'note',
          person,
          people.of(people.rootOf(person)).id,
        ]);
      else if (gone === 'erased') expect(stored.has(id)).toBe(false);
    }
  }

  /** Checks that what was declined stays so, and goes to the end of the chain of merges. */
  private async checkDeclined(organizationId: string, { declined, people }: LifeRecord): Promise<void> {
    const sql = `SELECT subject FROM preferences
                  WHERE organization_id = $1 AND channel = 'email' AND topic = '' AND NOT subscribed`;
    const rows = await this.platform.query<{ subject: string }>('messaging', sql, [organizationId]);
    const found = new Set(rows.map(({ subject }) => subject));
    for (const person of declined) {
      const { id, gone } = people.of(person);
      if (gone === undefined) expect([person, found.has(`contact:${id}`)]).toEqual([person, true]);
    }
  }

  /** Checks that messaging knows what core says of marketing; of what was never said it may know that it is over. */
  private async checkConsents(organizationId: string, caller: Caller, { people }: LifeRecord): Promise<void> {
    const sql = `SELECT contact_id AS id, status FROM consents
                  WHERE organization_id = $1 AND purpose = 'marketing' AND channel = ''`;
    const rows = await this.platform.query<{ id: string; status: string }>('messaging', sql, [
      organizationId,
    ]);
    const known = new Map(rows.map(({ id, status }) => [id, status]));
    for (const { id, into, gone } of people.list()) {
      if (into !== undefined || gone !== undefined) continue;
      const { body } = await caller.get<{ data?: { channel: string | null; status: string }[] }>(
        `/v1/core/contacts/${id}/consents?purpose=marketing`,
      );
      const said = body.data?.find(({ channel }) => channel === null)?.status;
      const may = said === undefined ? [undefined, 'expired'] : [said];
      expect([id, may]).toEqual([id, expect.arrayContaining([known.get(id)])]);
    }
  }

  /** Each event that stands has earned once, and was written about once. */
  private async checkOnce(organizationId: string, { events, people }: LifeRecord): Promise<void> {
    const [ledger] = await this.platform.query<{ earned: number; points: number }>(
      'loyalty',
      `SELECT count(*)::int AS earned, coalesce(sum(points), 0)::int AS points FROM transactions
        WHERE organization_id = $1 AND kind = 'earn'`,
      [organizationId],
    );
    const { earned = 0, points = 0 } = ledger ?? {};
    expect(points).toBe(earned * POINTS);
    const untouched = people.list().every((one) => !one.gone && !one.deleted && !hasTwin(one));
    const stored = await this.query('SELECT id FROM events WHERE organization_id = $1', [organizationId]);
    // Who is deleted earns nothing meanwhile; a letter is an event, too, once it is run again.
    expect(earned).toBeLessThanOrEqual(events.length + people.list().length);
    if (untouched) expect(earned).toBe(stored.length);
    const sends = await this.platform.query<{ event: string; count: number }>(
      'messaging',
      `SELECT event_id AS event, count(*)::int AS count FROM sends
        WHERE organization_id = $1 AND event_id IS NOT NULL GROUP BY event_id`,
      [organizationId],
    );
    const sent = new Map(sends.map(({ event, count }) => [event, count]));
    if (untouched) for (const { id } of events) expect([id, sent.get(id)]).toEqual([id, 1]);
  }
}
