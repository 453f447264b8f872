import { Database, newId } from '@customer-platform/database';
import { DatabaseFault, expectStatus, type Caller } from '@customer-platform/testing';
import { SegmentWorld, type Given } from '../segments/segment.fixture.js';
import { DeadLetterReplayer } from './dead-letter.replayer.js';
import { ErasedIdentifiers } from '../blocklist/erased-identifiers.js';

interface Letter extends Record<string, unknown> {
  id: string;
  state: string;
}

/** What fails in an organization: rows of a stage's table whose text is like the pattern. */
const FAULTS = `
  CREATE TABLE faults (organization_id uuid, stage text, pattern text);
  GRANT SELECT ON faults TO PUBLIC;
  CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT FROM faults WHERE organization_id = NEW.organization_id AND stage = TG_ARGV[0]
                  AND to_jsonb(NEW)::text LIKE pattern)
    THEN RAISE EXCEPTION 'a fault'; END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER fault BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION fail('store');
  CREATE TRIGGER fault BEFORE INSERT OR UPDATE ON contacts FOR EACH ROW EXECUTE FUNCTION fail('profile');
  CREATE TRIGGER fault BEFORE INSERT ON segment_changes FOR EACH ROW EXECUTE FUNCTION fail('segments');
  CREATE TRIGGER fault BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION fail('emit')`;

const EARLIER = '2026-06-15T11:00:00.000Z';
const NOW = '2026-06-15T12:00:00.000Z';

const first: Given = { externalId: 'ana', at: EARLIER, traits: { first_name: 'Ana' } };
const identify: Given = {
  externalId: 'ana',
  at: NOW,
  traits: { first_name: 'Anna', plan: 'gold', phone: 'no number' },
  identities: [{ type: 'device_id', value: 'tablet' }],
};
const track: Given = { externalId: 'ana', at: NOW, properties: { amount: 1 } };
const later: Given = { externalId: 'ana', at: NOW, event: 'seen' };

interface Fault {
  readonly stage: 'store' | 'profile' | 'segments' | 'emit';
  readonly pattern: string;
}

interface Case extends Fault {
  readonly stage: 'profile' | 'segments' | 'emit';
  /** The event that fails. */
  readonly event: Given;
  readonly before: readonly Given[];
}

const CASES: readonly (readonly [string, Case])[] = [
  ['an identify at its profile', { stage: 'profile', event: identify, before: [first], pattern: '%Anna%' }],
  ['a first identify at its profile', { stage: 'profile', event: identify, before: [], pattern: '%Anna%' }],
  [
    'an identify at its segments',
    { stage: 'segments', event: identify, before: [first], pattern: '%f:attributes.plan%' },
  ],
  [
    'a first identify at its segments',
    { stage: 'segments', event: identify, before: [], pattern: '%f:attributes.plan%' },
  ],
  ['a track at its segments', { stage: 'segments', event: track, before: [first], pattern: '%c:%' }],
  [
    'an identify as it is told of',
    { stage: 'emit', event: identify, before: [first], pattern: '%contact.updated.v1%attributes.plan%' },
  ],
  [
    'a first identify as it is told of',
    { stage: 'emit', event: identify, before: [], pattern: '%contact.created.v1%attributes.plan%' },
  ],
  [
    'a track as it is told of',
    { stage: 'emit', event: track, before: [first], pattern: '%event.recorded.v1%amount%' },
  ],
];

describe('an event that fails after it is stored', () => {
  let world: SegmentWorld;
  beforeAll(async () => {
    world = await SegmentWorld.start();
    await world.core.database.query(FAULTS);
    world.stopClock(NOW);
  }, 60_000);
  afterAll(() => world.close());

  /** Someone known by a tablet alone, and two segments. */
  async function anOrganization(): Promise<{ id: string; caller: Caller }> {
    const { id, caller } = world.anOrganization();
    const created = await caller.post<{ id: string }>('/v1/core/contacts', { email: 'tablet@example.com' });
    expectStatus(created, 201);
    const path = `/v1/core/contacts/${created.body.id}`;
    expectStatus(await caller.post(`${path}/identities`, { type: 'device_id', value: 'tablet' }), 201);
    expectStatus(await caller.patch(path, { email: null }), 200);
    await world.segment(caller, { attribute: 'attributes.plan', op: 'eq', value: 'gold' }, 'gold');
    await world.segment(caller, { event: 'invoice_paid' }, 'paid');
    await world.core.database.query('DELETE FROM outbox WHERE organization_id = $1', [id]);
    return { id, caller };
  }

  const fault = (id: string, { stage, pattern }: Fault) =>
    world.core.database.query('INSERT INTO faults VALUES ($1, $2, $3)', [id, stage, pattern]);
  const mend = (id: string, stage = '%') =>
    world.core.database.query('DELETE FROM faults WHERE organization_id = $1 AND stage LIKE $2', [id, stage]);

  const keyed = (given: Given, key: string): Given => ({ ...given, key });
  const story = ({ before, event }: Case): Given[] => [
    ...before.map((given, at) => keyed(given, `before-${at}`)),
    keyed(event, 'failing'),
    keyed(later, 'later'),
  ];

  async function letters(caller: Caller): Promise<Letter[]> {
    const answer = await caller.get<{ data: Letter[] }>('/v1/core/dead-letters');
    expectStatus(answer, 200);
    return answer.body.data;
  }

  async function replay(caller: Caller): Promise<Letter | undefined> {
    const [letter] = await letters(caller);
    expectStatus(await caller.post(`/v1/core/dead-letters/${letter?.id ?? ''}/replay`), 202);
    await world.replay();
    await world.evaluate();
    return (await letters(caller))[0];
  }

  async function counts(caller: Caller): Promise<Record<string, number>> {
    const answer = await caller.get<{ totals: { events: Record<string, number> } }>('/v1/core/usage');
    expectStatus(answer, 200);
    return answer.body.totals.events;
  }

  /** All that events have led to, told alike in any organization. */
  async function outcome(id: string): Promise<object> {
    const all = (sql: string) => world.core.database.query<{ row: unknown }>(sql, [id]);
    const told = await world.outbox<{ type: string; data: Record<string, unknown> }>(id);
    const kept = told.filter(({ type }) => type && !/dead_letter/.test(type));
    return {
      contacts: await all(
        `SELECT jsonb_build_array(external_id, first_name, attributes, merged_into IS NULL) AS row
           FROM contacts WHERE organization_id = $1 ORDER BY external_id`,
      ),
      identities: await all(
        `SELECT jsonb_build_array(type, normal_value, external_id) AS row
           FROM identities JOIN contacts ON contacts.organization_id = $1 AND contacts.id = contact_id
          WHERE identities.organization_id = $1 ORDER BY 1`,
      ),
      events: await all(
        `SELECT jsonb_build_array(idempotency_key, warnings, contacts.external_id) AS row
           FROM events JOIN contacts ON contacts.organization_id = $1 AND contacts.id = contact_id
          WHERE events.organization_id = $1 ORDER BY 1`,
      ),
      members: await all(
        `SELECT jsonb_build_array(name, external_id, left_at IS NULL) AS row
           FROM segment_members AS member JOIN contacts ON contacts.organization_id = $1 AND contacts.id = contact_id
           JOIN segments ON segments.organization_id = $1 AND segments.id = segment_id
          WHERE member.organization_id = $1 ORDER BY 1`,
      ),
      told: kept
        .map(({ type, data }) => [type, data['changed_fields'] ?? data['type'] ?? data['event'] ?? null])
        .map((each) => JSON.stringify(each))
        .sort(),
    };
  }

  /** What the story leads to where nothing fails. */
  async function untroubled(each: Case): Promise<object> {
    const { id } = await anOrganization();
    await world.storeCarefully(id, story(each));
    await world.evaluate();
    return outcome(id);
  }

  it.each(CASES)('%s: is stored, and goes on from there once the cause is gone', async (_, each) => {
    const { id, caller } = await anOrganization();
    await fault(id, each);
    await world.storeCarefully(id, story(each));
    await world.evaluate();
    const events = each.before.length + 2;
    const [letter] = await letters(caller);
    expect(letter).toMatchObject({ stage: each.stage, state: 'pending', attempts: 3, external_id: 'ana' });
    const [stored] = await world.core.database.query<{ id: string; contact_id: string }>(
      `SELECT id, contact_id FROM events WHERE organization_id = $1 AND idempotency_key = 'failing'`,
      [id],
    );
    expect(letter).toMatchObject({ event_id: stored?.id, contact_id: stored?.contact_id });
    const settled = { accepted: events, stored: events, duplicates: 0, dead_lettered: 0, pending: 0 };
    expect(await counts(caller)).toMatchObject(settled);
    const recorded = (await world.outbox<{ type: string; id: string }>(id)).map(({ id: event }) => event);
    expect(recorded).not.toContain(stored?.id);

    expect(await replay(caller)).toMatchObject({ stage: each.stage, state: 'pending', attempts: 4 });
    expect(await counts(caller)).toMatchObject(settled);
    await mend(id);
    expect(await replay(caller)).toMatchObject({ stage: each.stage, state: 'replayed' });
    const expected = await untroubled(each);
    expect(await outcome(id)).toEqual(expected);
    expect(await replay(caller)).toMatchObject({ state: 'replayed' });
    await world.storeCarefully(id, [keyed(each.event, 'failing')]);
    expect(await outcome(id)).toEqual(expected);
    expect(await counts(caller)).toMatchObject({ ...settled, accepted: events + 1, duplicates: 1 });
  });

  const told = async (id: string): Promise<string[]> =>
    (await world.outbox<{ type: string; data: Record<string, unknown> }>(id))
      .filter(({ type }) => /^core[.](event|contact)/.test(type ?? ''))
      .map(({ type, data }) => `${type} ${JSON.stringify(data['changed_fields'] ?? data['stage'] ?? null)}`);

  it('moves on to the stage at which it fails next, and keeps what it has done', async () => {
    const { id, caller } = await anOrganization();
    await fault(id, { stage: 'store', pattern: '%failing%' });
    await fault(id, { stage: 'profile', pattern: '%Anna%' });
    await fault(id, { stage: 'segments', pattern: '%f:attributes.plan%' });
    await fault(id, { stage: 'emit', pattern: '%contact.created.v1%attributes.plan%' });
    await world.storeCarefully(id, [keyed(identify, 'failing')]);
    expect(await letters(caller)).toMatchObject([{ stage: 'store', contact_id: null }]);
    expect(await counts(caller)).toMatchObject({ accepted: 1, stored: 0, dead_lettered: 1, pending: 0 });
    const settled = { accepted: 1, stored: 1, dead_lettered: 0, pending: 0 };
    const steps = [
      ['store', 'profile'],
      ['profile', 'segments'],
      ['segments', 'emit'],
    ] as const;
    for (const [mended, failing] of steps) {
      await mend(id, mended);
      expect(await replay(caller)).toMatchObject({ stage: failing, state: 'pending' });
      expect(await counts(caller)).toMatchObject(settled);
      expect(await told(id)).toEqual(['core.event.dead_lettered.v1 "store"']);
    }
    await mend(id);
    expect(await replay(caller)).toMatchObject({ stage: 'emit', state: 'replayed', attempts: 6 });
    const all = { stage: 'emit', event: identify, before: [], pattern: '' } as const;
    const { events: _events, told: _told, ...done } = (await outcome(id)) as Record<string, unknown>;
    expect(await untroubled(all)).toMatchObject(done);
    expect(await told(id)).toContain(
      'core.contact.created.v1 ["external_id","first_name","attributes.plan"]',
    );
    expect(await counts(caller)).toMatchObject(settled);
  });

  it('has its effect once, whenever a process is killed', async () => {
    const { id, caller } = await anOrganization();
    const each = {
      stage: 'emit',
      event: track,
      before: [first],
      pattern: '%event.recorded.v1%amount%',
    } as const;
    await fault(id, each);
    const events = story(each);
    await world.killed(() => expect(world.storeCarefully(id, events)).rejects.toThrow('killed'));
    expect(await letters(caller)).toEqual([]);
    await world.storeCarefully(id, events);
    await mend(id);
    const [letter] = await letters(caller);
    expectStatus(await caller.post(`/v1/core/dead-letters/${letter?.id ?? ''}/replay`), 202);
    await world.killed(() => world.replay());
    expect(await letters(caller)).toMatchObject([{ state: 'replaying' }]);
    // A process that begins anew knows of no failure; this one leaves the letter alone for a moment.
    world.pass(1_000);
    await Promise.all([world.replay(), world.replay()]);
    await world.evaluate();
    expect(await letters(caller)).toMatchObject([{ state: 'replayed' }]);
    expect(await outcome(id)).toEqual(await untroubled(each));
    world.stopClock();
  });

  it('is told of as the event of whoever has it by then', async () => {
    const { id, caller } = await anOrganization();
    await fault(id, { stage: 'emit', pattern: '%event.recorded.v1%amount%' });
    await world.storeCarefully(id, [first, keyed(track, 'failing'), { ...first, externalId: 'eva' }]);
    const of = async (externalId: string): Promise<string> => {
      const answer = await caller.get<{ data: { id: string }[] }>(
        `/v1/core/contacts?external_id=${externalId}`,
      );
      return answer.body.data[0]?.id ?? '';
    };
    const [ana, eva] = [await of('ana'), await of('eva')];
    const merge = { survivor_id: eva, merged_id: ana, dry_run: false };
    expectStatus(await caller.post('/v1/core/contacts/merge', merge), 200);
    await mend(id);
    expect(await replay(caller)).toMatchObject({ state: 'replayed', contact_id: eva });
    const recorded = (await world.outbox<{ type: string; data: Record<string, unknown> }>(id)).filter(
      ({ type }) => type === 'core.event.recorded.v1',
    );
    expect(recorded).toMatchObject([{ data: { contact_id: eva, external_id: 'ana' } }]);
  });

  it('has no effect on a contact that is soft-deleted by then', async () => {
    const { id, caller } = await anOrganization();
    await fault(id, { stage: 'profile', pattern: '%Anna%' });
    await world.storeCarefully(id, [first, keyed(identify, 'failing')]);
    const [letter] = await letters(caller);
    expectStatus(await caller.delete(`/v1/core/contacts/${String(letter?.['contact_id'])}`), 204);
    const before = await told(id);
    await mend(id);
    expect(await replay(caller)).toMatchObject({ state: 'replayed' });
    expect(await told(id)).toEqual(before);
    expect(await outcome(id)).toMatchObject({ contacts: [{ row: ['ana', 'Ana', {}, true] }, {}] });
  });

  it('that an earlier release stored with its profile tells of what that changed', async () => {
    const { id, caller } = await anOrganization();
    await fault(id, { stage: 'emit', pattern: '%contact.updated.v1%attributes.plan%' });
    await world.storeCarefully(id, [first, keyed(identify, 'failing')]);
    await world.core.database.query(
      `UPDATE contacts SET version = 2, first_name = 'Anna', attributes = '{"plan": "gold"}',
              field_times = jsonb_build_object('fields', jsonb_build_object('first_name', $2::text),
                                               'attributes', jsonb_build_object('plan', $2::text))
        WHERE organization_id = $1 AND external_id = 'ana'`,
      [id, NOW],
    );
    await world.core.database.query(
      `UPDATE dead_letters SET remainder = remainder || $2 WHERE organization_id = $1`,
      [id, { changedFields: ['first_name', 'attributes.plan'], contested: ['/identities/0/value'] }],
    );
    await mend(id);
    expect(await replay(caller)).toMatchObject({ state: 'replayed' });
    expect(await told(id)).toContain('core.contact.updated.v1 ["first_name","attributes.plan"]');
  });

  it('gives its contact no value of a person who was erased meanwhile', async () => {
    const { id, caller } = await anOrganization();
    await fault(id, { stage: 'profile', pattern: '%Anna%' });
    const traits = { first_name: 'Anna', email: 'Gone@example.com' };
    const identities = [
      { type: 'custom.card', value: 'gone' },
      { type: 'custom.card', value: 'stays' },
    ];
    await world.storeCarefully(id, [first, { externalId: 'ana', at: NOW, traits, identities }]);
    await mend(id);
    const app = world.core.app.app;
    await app.get(Database, { strict: false }).acrossOrganizations(async (tx) => {
      await tx.useOrganization(id);
      await app.get(ErasedIdentifiers, { strict: false }).block(tx, newId(), [
        { type: 'email', normal: 'gone@example.com' },
        { type: 'custom.card', normal: 'gone' },
      ]);
    });
    expect(await replay(caller)).toMatchObject({ state: 'replayed' });
    const rows = await world.core.database.query(
      `SELECT first_name, email, ARRAY(SELECT normal_value FROM identities WHERE contact_id = contacts.id ORDER BY 1) AS held
         FROM contacts WHERE organization_id = $1 AND external_id = 'ana'`,
      [id],
    );
    expect(rows).toEqual([{ first_name: 'Anna', email: null, held: ['ana', 'stays'] }]);
  });

  it('is given back where its replay always runs out of time, once that comes through, and ends no pass', async () => {
    const { id, caller } = await anOrganization();
    await fault(id, { stage: 'store', pattern: '%failing%' });
    await world.storeCarefully(id, [keyed(track, 'failing')]);
    await mend(id);
    const [letter] = await letters(caller);
    expectStatus(await caller.post(`/v1/core/dead-letters/${letter?.id ?? ''}/replay`), 202);
    const outOfTime = { when: `NEW.organization_id = '${id}'`, code: '57014' };
    const { database } = world.core;
    const noTime = await DatabaseFault.in(database, { ...outOfTime, table: 'events', on: 'INSERT' });
    const notBack = await DatabaseFault.in(database, { ...outOfTime, table: 'dead_letters', on: 'UPDATE' });
    const passes = async (): Promise<void> => {
      for (let tries = 0; tries < 6; tries += 1) {
        await world.replay();
        world.pass(300_000);
      }
    };
    await passes();
    expect(await notBack.tries()).toBeGreaterThan(0);
    await notBack.mend();
    expect(await letters(caller)).toMatchObject([{ state: 'replaying' }]);
    await passes();
    await noTime.mend();
    expect(await letters(caller)).toMatchObject([{ state: 'pending', code: 'internal_error' }]);
    expect(await replay(caller)).toMatchObject({ state: 'replayed' });
  });

  it('stays as an erasure has closed it, though its replay is given back just then', async () => {
    const { id, caller } = await anOrganization();
    await fault(id, { stage: 'store', pattern: '%failing%' });
    await world.storeCarefully(id, [keyed(track, 'failing')]);
    const [letter] = await letters(caller);
    const replayer = world.core.app.app.get(DeadLetterReplayer, { strict: false });
    await world.core.database.query(
      `UPDATE dead_letters SET state = 'closed', closed_reason = 'subject_erased', payload = NULL WHERE id = $1`,
      [letter?.id],
    );
    const failure = { stage: 'store', code: 'internal_error', detail: 'It failed.', attempts: 1 } as const;
    const queued = { ...letter, organization_id: id } as unknown as Parameters<
      (typeof replayer)['giveBack']
    >[1];
    await world.core.app.app.get(Database, { strict: false }).acrossOrganizations(async (tx) => {
      await tx.useOrganization(id);
      await replayer['giveBack'](tx, queued, { failure });
    });
    expect(await letters(caller)).toMatchObject([{ state: 'closed', closed_reason: 'subject_erased' }]);
  });
});
