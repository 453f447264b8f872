import { randomUUID } from 'node:crypto';
import { canonicalTimeZone } from '@customer-platform/http';
import {
  expectProblem,
  expectStatus,
  kafkaProbe,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import { aLoyaltyWorld, aRecordedEvent, aRuleBody, startLoyalty } from '../loyalty.fixture.js';
import type { RuleDto } from './rule.dto.js';

/** Names that ICU has, and the IANA database has not. */
const OF_ICU =
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST';
const IN_SUMMER_AND_WINTER = ['2026-01-15T12:00:00Z', '2026-07-15T12:00:00Z'];

let app: TestApp;
let database: TestDatabase;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ app, database, close } = await startLoyalty());
});
afterAll(() => close());

const cap = (timezone: string) => ({ points: 10, period: 'day', timezone });
const shown = (at: string, timeZone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(new Date(at));

it('every zone that either knows is refused, or means the same to Node and to PostgreSQL', async () => {
  const rows = await database.query<{ name: string }>('SELECT name FROM pg_timezone_names');
  const names = [
    ...rows.map(({ name }) => name),
    ...Intl.supportedValuesOf('timeZone'),
    ...OF_ICU.split(' '),
  ];
  const zones = [...new Set(names.flatMap((name) => canonicalTimeZone(name) ?? []))];
  expect(zones.length).toBeGreaterThan(400);
  const there = await database.query<{ zone: string; at: string; shown: string }>(
    `SELECT zone, at, to_char(at::timestamptz AT TIME ZONE zone, 'YYYY-MM-DD HH24:MI') AS shown
       FROM unnest($1::text[]) AS zone CROSS JOIN unnest($2::text[]) AS at`,
    [zones, IN_SUMMER_AND_WINTER],
  );
  expect(there).toHaveLength(zones.length * IN_SUMMER_AND_WINTER.length);
  const otherwise = there.filter((each) => each.shown !== shown(each.at, each.zone));
  expect(otherwise).toEqual([]);
});

it.each(['AET', 'VST', 'IST', 'PST'])('a cap in %s is refused', async (timezone) => {
  const { caller } = aLoyaltyWorld(app, kafkaProbe(app));
  const answer = await caller.post('/v1/loyalty/rules', aRuleBody({ max_per_contact: cap(timezone) }));
  expect(expectProblem(answer, 400, 'validation_failed').errors).toEqual([
    expect.objectContaining({ pointer: '/max_per_contact/timezone', code: 'invalid_format' }),
  ]);
});

it('a cap has the name that the zone has today', async () => {
  const { caller } = aLoyaltyWorld(app, kafkaProbe(app));
  const body = aRuleBody({ max_per_contact: cap('asia/calcutta') });
  const made = await caller.post<RuleDto>('/v1/loyalty/rules', body);
  expectStatus(made, 201);
  expect(made.body.max_per_contact).toMatchObject({ timezone: 'Asia/Kolkata' });
});

it('a cap that was taken in a zone of ICU’s own counts by what it meant, and can be changed', async () => {
  const world = aLoyaltyWorld(app, kafkaProbe(app));
  const rule = await world.rule({
    formula: { type: 'fixed', points: 6 },
    valid_from: '2020-01-01T00:00:00Z',
    max_per_contact: cap('UTC'),
  });
  for (const [table, key] of [
    ['rules', 'id'],
    ['rule_versions', 'rule_id'],
  ])
    await database.query(
      `UPDATE ${String(table)} SET max_per_contact = max_per_contact || '{"timezone": "AET"}' WHERE ${String(key)} = $1`,
      [rule.id],
    );
  const contact_id = randomUUID();
  // 23:30 and 00:30 in Sydney, one day in UTC.
  for (const occurred_at of [
    '2026-05-01T13:30:00.000Z',
    '2026-05-01T14:30:00.000Z',
    '2026-05-01T14:40:00.000Z',
  ])
    await world.record(aRecordedEvent({ contact_id, occurred_at }));
  const rows = await world.transactions(`contact_id=${contact_id}&sort=occurred_at`);
  expect(rows.filter(({ rule_id: id }) => id === rule.id).map(({ points }) => points)).toEqual([6, 6, 4]);
  const changed = await world.caller.patch<RuleDto>(`/v1/loyalty/rules/${rule.id}`, { enabled: false });
  expectStatus(changed, 200);
  expect(changed.body.max_per_contact).toMatchObject({ timezone: 'Australia/Sydney' });
});
