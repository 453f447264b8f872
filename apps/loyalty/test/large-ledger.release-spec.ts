import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Clock, Database, newId, revertMigrations, runMigrations } from '@customer-platform/database';
import { expectStatus, type TestApp, type TestDatabase } from '@customer-platform/testing';
import { eraseSubjects } from '../src/ledger/erase-subjects.js';
import { aKey, aRuleBody, type LookedUpContact, startLoyalty } from '../src/loyalty.fixture.js';
import { CountEarnedPoints1768100000000 } from '../src/migrations/1768100000000-count-earned-points.js';
import { migrations } from '../src/migrations/index.js';
import type { RuleDto } from '../src/rules/rule.dto.js';

/** Rows of the ledger; `ROWS=10000000` takes six minutes and some 12 GiB. */
const ROWS = Number(process.env['ROWS'] ?? 1_000_000);
const CONTACTS = Math.ceil(ROWS / 100);
const AT_ONCE = 500_000;
const LONGEST_FILL_MS = 600_000;
/** The oldest rows are of one contact, who has been erased. */
const ERASED_ROWS = 1_000;
const POSTED = 300;
/** Credits of a point each, of one contact. */
const LOTS = 20_000;
const FROM_HERE = migrations.length - migrations.indexOf(CountEarnedPoints1768100000000);

const organizationId = newId();
let ruleId: string;
let app: TestApp;
let database: TestDatabase;
let contacts: LookedUpContact[];
let close: () => Promise<void>;
beforeAll(async () => {
  ({ app, database, contacts, close } = await startLoyalty({ planted: true }));
  const answer = await app
    .as(organizationId, ['loyalty.rules.create'])
    .post<RuleDto>('/v1/loyalty/rules', aRuleBody());
  expectStatus(answer, 201);
  ruleId = answer.body.id;
});
afterAll(() => close());

const say = (line: string): boolean => process.stderr.write(`${line}\n`);
const seconds = (began: number): string => ((performance.now() - began) / 1_000).toFixed(3);

const refOf = (number: string): string =>
  `('00000000-0000-4000-8000-' || lpad(to_hex(${number}), 12, '0'))::uuid`;
const REF = refOf(`CASE WHEN n < ${String(ERASED_ROWS)} THEN 0 ELSE 1 + n % ${String(CONTACTS - 1)} END`);
const CONTACT = refOf('n');
const ID = `(lpad(to_hex(n), 8, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
const AT = `(timestamptz '2020-01-01' + n * interval '10 s')::timestamptz(3)`;

/** Rows of the ledger by statements, with neither triggers nor the indexes that are made again at the end. */
async function fill(): Promise<number> {
  const began = performance.now();
  await database.query(`SET session_replication_role = replica`);
  const indexes = await database.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
      WHERE tablename IN ('transactions', 'links', 'lines') AND indexname NOT LIKE '%_pkey'`,
  );
  for (const { name } of indexes) await database.query(`DROP INDEX ${name}`);
  const contacts = `generate_series(0, ${String(CONTACTS - 1)}) AS n`;
  for (const statement of [
    `INSERT INTO subjects SELECT $1, ${CONTACT}, ${CONTACT}, ${CONTACT} FROM ${contacts} WHERE n > 0`,
    `INSERT INTO balances SELECT $1, ${CONTACT}, 500 FROM ${contacts}`,
    `INSERT INTO lot_balances SELECT $1, ${CONTACT}, ${CONTACT}, 500, NULL, now() FROM ${contacts}`,
    `INSERT INTO tombstones SELECT $1, ${CONTACT}, now(), ${String(ERASED_ROWS)}, 500 FROM ${contacts} WHERE n = 0`,
  ])
    await database.query(statement, [organizationId]);
  let rows = 0;
  for (; rows < ROWS && performance.now() - began < LONGEST_FILL_MS; rows += AT_ONCE) {
    const series = `generate_series(${String(rows)}, ${String(Math.min(ROWS, rows + AT_ONCE) - 1)}) AS n`;
    await database.query(
      `INSERT INTO transactions (organization_id, id, kind, points, subject_ref, rule_id, rule_version, rule_event_hash,
         actor_type, actor_id, created_at)
       SELECT $1, ${ID}, 'earn', 5, ${REF}, $2, 1, decode(md5(n::text), 'hex'), 'service', 'loyalty', ${AT} FROM ${series}`,
      [organizationId, ruleId],
    );
    await database.query(
      `INSERT INTO links (organization_id, transaction_id, subject_ref, event_id, correlation_id, occurred_at)
       SELECT $1, ${ID}, ${REF}, ${ID}, ${ID}, ${AT} - interval '1 s' FROM ${series}
        WHERE n >= ${String(ERASED_ROWS)}`,
      [organizationId],
    );
    await database.query(`INSERT INTO lines SELECT $1, ${ID}, ${ID}, 5, ${REF} FROM ${series}`, [
      organizationId,
    ]);
  }
  await database.query(
    `INSERT INTO tombstone_rows SELECT $1, ${AT}, ${ID} FROM generate_series(0, ${String(ERASED_ROWS - 1)}) AS n`,
    [organizationId],
  );
  await database.query(`SET maintenance_work_mem = '512MB'`);
  for (const { definition } of indexes) await database.query(definition);
  await database.query('ANALYZE');
  await database.query(`SET session_replication_role = origin`);
  say(`${String(Math.min(rows, ROWS))} rows of ${String(CONTACTS)} contacts written in ${seconds(began)} s`);
  return Math.min(rows, ROWS);
}

const LISTS = [
  ['nothing', ''],
  ['tombstoned', 'tombstoned=true'],
  ['occurred before all', 'occurred_at[lt]=2019-01-01T00:00:00Z'],
  ['occurred last', 'occurred_at[gte]=2020-01-01T00:00:00Z&sort=-created_at'],
  ['occurred on the first day', 'occurred_at[lt]=2020-01-02T00:00:00Z'],
  [
    'two contacts',
    `contact_id[in]=${[11, 12].map((n) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`).join(',')}`,
  ],
] as const;

it('prints what lists of a large ledger take', async () => {
  await fill();
  const caller = app.as(organizationId, ['loyalty.transactions.read']);
  for (const [name, query] of LISTS) {
    const times: string[] = [];
    let told = '';
    for (let turn = 0; turn < 3; turn += 1) {
      const began = performance.now();
      const { status, body } = await caller.get<{ data?: unknown[]; page?: { next_cursor: string | null } }>(
        `/v1/loyalty/transactions?limit=50&${query}`,
      );
      times.push(seconds(began));
      told = `${String(status)}, ${String(body.data?.length)} rows, ${body.page?.next_cursor ? 'goes on' : 'the end'}`;
    }
    say(`  ${name}: ${times.join(', ')} s; ${told}`);
  }
}, 1_800_000);

it('prints how long others wait while what rules gave is counted', async () => {
  const options = { module: 'loyalty', migrations, url: database.ownerUrl };
  await revertMigrations(options, FROM_HERE);
  let going = true;
  const waits: number[] = [];
  const posting = (async () => {
    for (let at = 0; going; at += 1) {
      const began = performance.now();
      await database.query(
        `INSERT INTO transactions (organization_id, id, kind, points, subject_ref, idempotency_hash, actor_type, actor_id, created_at)
         VALUES ($1, gen_random_uuid(), 'adjust', 1, gen_random_uuid(), decode(md5(random()::text), 'hex'), 'user', 'x', now())`,
        [organizationId],
      );
      waits.push(performance.now() - began);
      await pause(20);
    }
  })();
  const began = performance.now();
  await runMigrations(options);
  say(`  the migrations take ${seconds(began)} s`);
  going = false;
  await posting;
  say(
    `  the longest INSERT into transactions meanwhile: ${(Math.max(...waits) / 1_000).toFixed(2)} s of ${String(waits.length)}`,
  );
  const [row] = await database.query<{ refs: string; points: string }>(
    'SELECT count(*) AS refs, sum(points) AS points FROM earned_points',
  );
  say(`  ${String(row?.refs)} sums, ${String(row?.points)} points`);
}, 1_800_000);

it('prints what the trigger that counts costs a batch, by turns', async () => {
  const refs = await database.query<{ ref: string }>(
    'SELECT subject_ref AS ref FROM balances ORDER BY 1 OFFSET 100 LIMIT 100',
  );
  const times: Record<'with' | 'without', number[]> = { with: [], without: [] };
  for (let turn = 0; turn < POSTED; turn += 1) {
    const which = turn % 2 === 0 ? 'with' : 'without';
    await database.query(
      `ALTER TABLE transactions ${which === 'with' ? 'ENABLE' : 'DISABLE'} TRIGGER transactions_earned_points`,
    );
    const began = performance.now();
    await database.query(
      `INSERT INTO transactions (organization_id, id, kind, points, subject_ref, rule_id, rule_version, rule_event_hash,
         actor_type, actor_id, created_at)
       SELECT $1, gen_random_uuid(), 'earn', 5, ref, $2, 1, decode(md5(random()::text), 'hex'), 'service', 'loyalty', now()
         FROM unnest($3::uuid[]) AS ref`,
      [organizationId, ruleId, refs.map(({ ref }) => ref)],
    );
    times[which].push(performance.now() - began);
  }
  const median = (all: number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? NaN;
  say(
    `  an INSERT of 100 earned rows: ${median(times.without).toFixed(1)} ms without, ${median(times.with).toFixed(1)} ms with the trigger (medians of ${String(POSTED / 2)}, by turns)`,
  );
}, 600_000);

/** One contact's rows in an organization of its own, by statements that no trigger sees. */
async function fillOne(organization: string, contact: string): Promise<void> {
  await database.query(`SET session_replication_role = replica`);
  await database.query('INSERT INTO subjects VALUES ($1, $2, $2, $2)', [organization, contact]);
  await database.query('INSERT INTO balances VALUES ($1, $2, $3)', [organization, contact, ROWS]);
  for (let from = 0; from < ROWS; from += AT_ONCE) {
    const series = `generate_series(${String(from)}, ${String(Math.min(ROWS, from + AT_ONCE) - 1)}) AS n`;
    for (const statement of [
      `INSERT INTO transactions (organization_id, id, kind, points, subject_ref, actor_type, actor_id, created_at)
       SELECT $1, ${ID}, 'adjust', 1, $2, 'user', 'x', ${AT} FROM ${series}`,
      `INSERT INTO links (organization_id, transaction_id, subject_ref, correlation_id, occurred_at)
       SELECT $1, ${ID}, $2, ${ID}, ${AT} FROM ${series}`,
      `INSERT INTO lines SELECT $1, ${ID}, ${ID}, 1, $2 FROM ${series}`,
    ])
      await database.query(statement, [organization, contact]);
  }
  await database.query(`SET session_replication_role = origin`);
  await database.query('ANALYZE');
}

it('prints what the erasure of a contact with all these rows takes', async () => {
  const [organization, contact] = [newId(), randomUUID()];
  await fillOne(organization, contact);
  const began = performance.now();
  const count = await app.app
    .get(Database)
    .inOrganization({ organizationId: organization }, (tx) =>
      eraseSubjects(tx, [contact], app.app.get(Clock)),
    );
  say(`  the erasure of a contact with ${String(count)} rows takes ${seconds(began)} s`);
  const [left] = await database.query<{ links: number; listed: number }>(
    `SELECT (SELECT count(*)::int FROM links WHERE organization_id = $1) AS links,
            (SELECT count(*)::int FROM tombstone_rows WHERE organization_id = $1) AS listed`,
    [organization],
  );
  expect({ count, ...left }).toEqual({ count: ROWS, links: 0, listed: ROWS });
}, 1_800_000);

it('prints what debits take of a contact with 20,000 lots', async () => {
  const [organization, contact] = [newId(), randomUUID()];
  contacts.push({ id: contact, state: 'active', merged_into: null, version: 1 });
  await database.query(`SET session_replication_role = replica`);
  const series = `generate_series(1, ${String(LOTS)}) AS n`;
  for (const [statement, ...values] of [
    ['INSERT INTO subjects VALUES ($1, $2, $2, $2)', contact],
    [`INSERT INTO balances VALUES ($1, $2, ${String(LOTS)})`, contact],
    [`INSERT INTO lot_balances SELECT $1, $2, ${ID}, 1, NULL, ${AT} FROM ${series}`, contact],
    [`INSERT INTO lines SELECT $1, ${ID}, ${ID}, 1, $2 FROM ${series}`, contact],
    [
      `INSERT INTO links (organization_id, transaction_id, subject_ref, correlation_id, occurred_at)
       SELECT $1, ${ID}, $2, ${ID}, ${AT} FROM ${series}`,
      contact,
    ],
    [
      `INSERT INTO transactions (organization_id, id, kind, points, subject_ref, actor_type, actor_id, created_at)
       SELECT $1, ${ID}, 'adjust', 1, $2, 'user', 'x', ${AT} FROM ${series}`,
      contact,
    ],
  ] as const)
    await database.query(statement, [organization, ...values]);
  await database.query(`SET session_replication_role = origin`);
  await database.query('ANALYZE');
  const caller = app.as(organization, ['loyalty.transactions.create']);
  const post = async (what: string, body: object): Promise<{ id: string }> => {
    const began = performance.now();
    const answer = await caller.post<{ id: string }>('/v1/loyalty/transactions', body, aKey());
    expectStatus(answer, 201);
    say(`  ${what}: ${seconds(began)} s`);
    return answer.body;
  };
  for (const points of [1, 1, 1, LOTS / 2]) {
    const spend = await post(`a spend of ${String(points)}`, { kind: 'spend', contact_id: contact, points });
    await post('  its reversal', { kind: 'reverse', reverses_id: spend.id, reason: 'x' });
  }
}, 600_000);
