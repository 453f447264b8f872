import { randomUUID } from 'node:crypto';
import { Database } from '@customer-platform/database';
import type { TestApp, TestDatabase } from '@customer-platform/testing';
import { startLoyalty } from '../loyalty.fixture.js';
import { inForce, RuleBooks, rulesFor, type RuleBook } from './rule-book.js';

const EVENT = 'purchase_completed';
const MINUTE = 60_000;
const NOW = Date.parse('2026-06-01T12:00:00.000Z');

let app: TestApp;
let database: TestDatabase;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ app, database, close } = await startLoyalty());
});
afterAll(() => close());

/** So many rules, each made and deleted within a minute, one after another, the last `before` NOW. */
async function deletedRules(organizationId: string, count: number, before: number): Promise<void> {
  const at = (number: string): string =>
    `$2::timestamptz - $4::int * interval '1 ms' - (${number}) * interval '1 minute'`;
  await database.query(
    `WITH made AS (
       INSERT INTO rules (organization_id, id, name, event, conditions, formula, valid_from, enabled, version,
                          created_at, updated_at, deleted_at)
       SELECT $1, gen_random_uuid(), 'Rule ' || number, '${EVENT}', '[]', '{"type": "fixed", "points": 1}',
              '2020-01-01', true, 1, ${at('number + 1')}, ${at('number')}, ${at('number')}
         FROM generate_series(0, $3::int - 1) AS number
       RETURNING organization_id, id, created_at, updated_at
     ), told AS (
       INSERT INTO rule_versions (organization_id, rule_id, version, event, conditions, formula, valid_from, enabled,
                                  created_at)
       SELECT organization_id, id, 1, '${EVENT}', '[]', '{"type": "fixed", "points": 1}', '2020-01-01', true, created_at
         FROM made
     )
     INSERT INTO rule_periods (organization_id, rule_id, effective_from, version, deleted)
     SELECT organization_id, id, updated_at - interval '1 minute', 1, false FROM made
     UNION ALL SELECT organization_id, id, updated_at, 1, true FROM made`,
    [organizationId, new Date(NOW), count, before],
  );
  await database.query('INSERT INTO rule_revisions (organization_id, revision) VALUES ($1, 1)', [
    organizationId,
  ]);
}

/** A rule that was changed at these instants, deleted where `ends` says so. */
async function ruleOf(
  organizationId: string,
  changes: readonly { readonly at: number; readonly ends: boolean }[],
): Promise<string> {
  const id = randomUUID();
  const last = changes.at(-1);
  const end = new Date(last?.at ?? NOW);
  await database.query(
    `INSERT INTO rules (organization_id, id, name, event, conditions, formula, valid_from, enabled, version, created_at,
                        updated_at, deleted_at)
     VALUES ($1, $2::uuid, $2::uuid::text, '${EVENT}', '[]', '{}', '2020-01-01', true, 1, $3, $3, $4)`,
    [organizationId, id, end, last?.ends ? end : null],
  );
  for (const [version, { at, ends }] of changes.entries()) {
    await database.query(
      `INSERT INTO rule_versions (organization_id, rule_id, version, event, conditions, formula, valid_from, enabled,
                                  created_at)
       VALUES ($1, $2, $3, '${EVENT}', '[]', '{}', '2020-01-01', true, $4)`,
      [organizationId, id, version, new Date(at)],
    );
    await database.query('INSERT INTO rule_periods VALUES ($1, $2, $3, $4, $5)', [
      ...[organizationId, id, new Date(at), version, ends],
    ]);
  }
  return id;
}

/** As an instance reads it that knows `books` already. */
async function read(organizationId: string, since: number, books = new RuleBooks()): Promise<RuleBook> {
  const found = await app.app
    .get(Database)
    .acrossOrganizations((tx) => books.ofAll(tx, new Map([[organizationId, since]])));
  const book = found.get(organizationId);
  if (!book) throw new Error('The organization has rules');
  return book;
}

const held = (book: RuleBook): number => {
  const { going = [], ended = [] } = book.get(EVENT) ?? {};
  return going.length + ended.length;
};

it('10,000 rules that were deleted before are neither read nor walked', async () => {
  const organizationId = randomUUID();
  await deletedRules(organizationId, 10_000, 10 * MINUTE);
  const stays = await ruleOf(organizationId, [{ at: NOW - 60 * MINUTE, ends: false }]);
  const book = await read(organizationId, NOW);
  expect(held(book)).toBe(1);
  expect(rulesFor(book, EVENT, NOW).map(({ ruleId }) => ruleId)).toEqual([stays]);
});

it('those deleted a moment ago are passed over by whatever was received since', async () => {
  const organizationId = randomUUID();
  await deletedRules(organizationId, 100, MINUTE);
  const books = new RuleBooks();
  await read(organizationId, NOW - 50 * MINUTE, books);
  const book = await read(organizationId, NOW, books);
  expect(held(book)).toBe(50);
  expect(rulesFor(book, EVENT, NOW)).toEqual([]);
});

it('an event received earlier is judged by the rules of its time, also after later ones were', async () => {
  const organizationId = randomUUID();
  await deletedRules(organizationId, 1_000, 10 * MINUTE);
  const books = new RuleBooks();
  expect(held(await read(organizationId, NOW, books))).toBe(0);
  for (const minutes of [500.5, 999.5, 20.5]) {
    const at = NOW - minutes * MINUTE;
    const judging = rulesFor(await read(organizationId, at, books), EVENT, at).filter((each) =>
      inForce(each, at),
    );
    expect([minutes, judging.length]).toEqual([minutes, 1]);
  }
});

it('whatever became of rules, a book since an instant says of later ones what a whole one says', async () => {
  const organizationId = randomUUID();
  // Changes at minutes 0 to 19; whether the rule is deleted then turns by the bits of its number.
  for (let number = 0; number < 32; number += 1) {
    const minutes = [0, 1, 2, 3, 4].map((each) => each * 4 + (number % 4));
    const changes = minutes.map((minute, bit) => ({
      at: NOW + minute * MINUTE,
      ends: (number & (1 << bit)) !== 0,
    }));
    await ruleOf(organizationId, changes);
  }
  await database.query('INSERT INTO rule_revisions (organization_id, revision) VALUES ($1, 1)', [
    organizationId,
  ]);
  const said = (book: RuleBook, at: number): string[] =>
    rulesFor(book, EVENT, at).flatMap((each) => {
      const period = inForce(each, at);
      return period ? [`${each.ruleId} ${String(period.version)}`] : [];
    });
  const whole = await read(organizationId, 0);
  for (let minute = 0; minute <= 21; minute += 1) {
    const since = NOW + minute * MINUTE;
    const book = await read(organizationId, since);
    for (let later = minute; later <= 21; later += 0.5) {
      const at = NOW + later * MINUTE;
      expect([minute, later, said(book, at)]).toEqual([minute, later, said(whole, at)]);
    }
  }
});
