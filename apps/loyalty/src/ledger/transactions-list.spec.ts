import { randomUUID } from 'node:crypto';
import {
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
} from '@customer-platform/testing';
import { ExpirySweep } from '../expiry/expiry.sweep.js';
import {
  type LookedUpContact,
  type LoyaltyWorld,
  aLoyaltyWorld,
  aRecordedEvent,
  entomb,
  startLoyalty,
} from '../loyalty.fixture.js';
import type { TransactionDto } from './transaction.dto.js';

let app: TestApp;
let database: TestDatabase;
let contacts: LookedUpContact[];
let probe: KafkaProbe;
let close: () => Promise<void>;
let world: LoyaltyWorld;
/** Rows of every kind, of three contacts, one of whom is erased; newest first. */
let all: TransactionDto[];
let people: string[];
beforeAll(async () => {
  ({ app, database, contacts, close } = await startLoyalty());
  probe = kafkaProbe(app);
  world = aLoyaltyWorld(app, probe);
  people = Array.from({ length: 3 }, aContact);
  const [first, second, erased] = people as [string, string, string];
  await world.rule({ formula: { type: 'fixed', points: 20 }, valid_from: '2020-01-01T00:00:00Z' });
  await world.record(
    aRecordedEvent({ contact_id: first, occurred_at: '2026-01-01T00:00:00.000Z' }),
    aRecordedEvent({ contact_id: second, occurred_at: '2026-02-01T00:00:00.000Z' }),
    aRecordedEvent({ contact_id: erased, occurred_at: '2026-02-01T00:00:00.000Z' }),
  );
  const spent = await world.post({ kind: 'spend', contact_id: first, points: 5, reference: 'T-1' });
  await world.post({ kind: 'spend', contact_id: second, points: 5, reference: 't-1' });
  await world.post({ kind: 'reverse', reverses_id: spent.id, reason: 'returned' });
  const soon = new Date(Date.now() + 1_000).toISOString();
  await world.post({ kind: 'adjust', contact_id: first, points: 9, reason: 'gift', expires_at: soon });
  await eventually(async () => {
    await app.app.get(ExpirySweep).sweep();
    expect(await world.transactions('kind=expire')).toHaveLength(1);
  });
  await entomb(database, world.organizationId, erased);
  all = await world.transactions();
});
afterAll(() => close());

function aContact(): string {
  const id = randomUUID();
  contacts.push({ id, state: 'active', merged_into: null, version: 1 });
  return id;
}

const some = (wanted: (row: TransactionDto) => boolean): TransactionDto => {
  const row = all.find(wanted);
  if (row === undefined) throw new Error('There is no such row');
  return row;
};
const SINCE = '2026-02-01T00:00:00.000Z';

type Case = [name: string, query: () => string, wanted: (row: TransactionDto) => boolean];

describe('GET /v1/loyalty/transactions', () => {
  it.each<Case>([
    ['a contact', () => `contact_id=${String(people[0])}`, (row) => row.contact_id === people[0]],
    [
      'some contacts',
      () => `contact_id[in]=${String(people[0])},${String(people[1])}`,
      (row) => row.contact_id !== null,
    ],
    ['an erased contact', () => `contact_id=${String(people[2])}`, () => false],
    ['a kind', () => 'kind=expire', (row) => row.kind === 'expire'],
    ['some kinds', () => 'kind[in]=spend,reverse', (row) => ['spend', 'reverse'].includes(row.kind)],
    ['a rule', () => `rule_id=${String(earned().rule_id)}`, (row) => row.rule_id === earned().rule_id],
    ['an event', () => `event_id=${String(earned().event_id)}`, (row) => row.event_id === earned().event_id],
    [
      'a correlation id',
      () => `correlation_id=${String(spent().correlation_id)}`,
      (row) => row.correlation_id === spent().correlation_id,
    ],
    ['what reverses a row', () => `reverses_id=${spent().id}`, (row) => row.reverses_id === spent().id],
    ['a reference, to the letter', () => 'reference=T-1', (row) => row.reference === 'T-1'],
    [
      'the time of occurrence',
      () => `occurred_at[gte]=${SINCE}`,
      (row) => row.occurred_at !== null && row.occurred_at >= SINCE,
    ],
    [
      'the time of occurrence, until',
      () => `occurred_at[lt]=${SINCE}`,
      (row) => row.occurred_at !== null && row.occurred_at < SINCE,
    ],
    [
      'the time of creation',
      () => `created_at[gt]=${spent().created_at}`,
      (row) => row.created_at > spent().created_at,
    ],
    ['tombstones', () => 'tombstoned=true', (row) => row.tombstoned_at !== null],
    ['no tombstones', () => 'tombstoned=false', (row) => row.tombstoned_at === null],
    [
      'all of them together',
      () => `contact_id=${String(people[0])}&kind=earn&occurred_at[lt]=${SINCE}`,
      (row) => row.contact_id === people[0] && row.kind === 'earn' && String(row.occurred_at) < SINCE,
    ],
  ])('by %s', async (_, query, wanted) => {
    const found = await world.transactions(`${query()}&sort=created_at`);
    const expected = all.filter(wanted).map(({ id }) => id);
    expect(found.map(({ id }) => id).sort()).toEqual(expected.sort());
    const times = found.map((row) => row.created_at);
    expect(times).toEqual([...times].sort());
  });

  it('shows nothing of whose an erased row was', () => {
    const rows = all.filter((row) => row.tombstoned_at !== null);
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows)
      expect(row).toMatchObject({
        contact_id: null,
        event_id: null,
        correlation_id: null,
        occurred_at: null,
        reason: null,
        reference: null,
      });
  });

  it('400 for what it does not filter by', async () => {
    for (const [query, code] of [
      ['points=1', 'unknown_parameter'],
      ['kind=gift', 'invalid_filter'],
      ['reverses_id[prefix]=a', 'invalid_filter'],
      ['tombstoned=maybe', 'invalid_filter'],
      ['sort=points', 'invalid_sort'],
      [`before_occurred_at=${SINCE}&before_id=${randomUUID()}`, 'validation_failed'],
    ] as const) {
      expectProblem(await world.caller.get(`/v1/loyalty/transactions?${query}`), 400, code);
    }
  });
});

/** Rows of one contact, with all that belongs to them. */
const FILL = [
  `INSERT INTO transactions (organization_id, id, kind, points, subject_ref, actor_type, actor_id, created_at)
   SELECT $1, id, 'adjust', 1, $2, 'x', 'x', now() - n * interval '1 second' FROM given`,
  `INSERT INTO links (organization_id, transaction_id, subject_ref, correlation_id, occurred_at)
   SELECT $1, id, $2, id, now() - n * interval '1 second' FROM given`,
  `INSERT INTO lines (organization_id, transaction_id, lot_id, points, subject_ref) SELECT $1, id, id, 1, $2 FROM given`,
  `INSERT INTO lot_balances (organization_id, subject_ref, lot_id, remaining, created_at)
   SELECT $1, $2, id, 1, now() - n * interval '1 second' FROM given`,
].map(
  (statement) =>
    `WITH given AS (
       SELECT ('01940000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id, n FROM generate_series(1, 45000) AS n)
     ${statement}`,
);

describe('a filter that few rows of a long ledger pass', () => {
  it('ends a page where enough was looked at; the walk comes to all that there are', async () => {
    const own = aLoyaltyWorld(app, probe);
    const [contact_id, erased] = [aContact(), aContact()];
    const buried = await own.post({ kind: 'adjust', contact_id: erased, points: 3, reason: 'x' });
    await own.post({ kind: 'adjust', contact_id, points: 5, reason: 'x' });
    const [subject] = await database.query<{ subject_ref: string }>(
      'SELECT subject_ref FROM subjects WHERE contact_id = $1',
      [contact_id],
    );
    for (const statement of FILL) await database.query(statement, [own.organizationId, subject?.subject_ref]);
    await database.query('UPDATE balances SET points = points + 45000 WHERE subject_ref = $1', [
      subject?.subject_ref,
    ]);
    await entomb(database, own.organizationId, erased);
    for (const [filter, sort, found, most] of [
      ['kind=spend', 'created_at', [], 3],
      ['kind=spend', '-created_at', [], 3],
      ['tombstoned=true', 'created_at', [buried.id], 1],
      ['tombstoned=true', '-created_at', [buried.id], 1],
    ] as const) {
      const ids: string[] = [];
      let pages = 0;
      for (let cursor: string | null = ''; cursor !== null; pages += 1) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const path = `/v1/loyalty/transactions?${filter}&sort=${sort}${query}`;
        const answer = await own.caller.get<{ data: TransactionDto[]; page: { next_cursor: string | null } }>(
          path,
        );
        expectStatus(answer, 200);
        ids.push(...answer.body.data.map(({ id }) => id));
        cursor = answer.body.page.next_cursor;
      }
      expect(ids).toEqual(found);
      expect(pages).toBe(most);
    }
  });
});

const earned = (): TransactionDto => some((row) => row.kind === 'earn' && row.contact_id === people[0]);
const spent = (): TransactionDto => some((row) => row.reference === 'T-1');
