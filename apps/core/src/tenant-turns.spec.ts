import type { Type } from '@nestjs/common';
import { jest } from '@jest/globals';
import { Tenants } from '@customer-platform/authorization';
import { newId } from '@customer-platform/database';
import { ItemBackoff } from '@customer-platform/http';
import { DatabaseFault, eventually } from '@customer-platform/testing';
import { ConversionRunner } from './attributes/conversion/conversion-runner.js';
import { AuditCheckpoints } from './audit-log/audit-checkpoints.js';
import { AuditVerification } from './audit-log/audit-verification.js';
import { startCore, START_MS, type TestCore } from './core.fixture.js';
import { DeadLetterReplayer } from './dead-letters/dead-letter.replayer.js';
import { ConsentExpiry } from './people/consents/consent-expiry.js';
import { EvaluatorShares } from './segments/evaluating/evaluator-shares.js';
import { SegmentEvaluator } from './segments/evaluating/segment.evaluator.js';
import { DueWarnings } from './subject-requests/due-warnings.js';
import { ErasureRunner } from './subject-requests/erasure/erasure-runner.js';
import { ReceiptVerifier } from './subject-requests/erasure/receipt-verifier.js';

const CHILDREN = 60;
const ANY = 'gen_random_uuid()';

let core: TestCore;
beforeAll(async () => {
  // Nothing runs by itself.
  core = await startCore({ PROCESS_ROLE: 'api' });
}, START_MS);
afterAll(() => core.close());

/** A tenant with many organizations, and its neighbour with one. */
interface Neighbourhood {
  readonly children: readonly string[];
  readonly neighbour: string;
}

async function aNeighbourhood(): Promise<Neighbourhood> {
  const [tenant, neighbour] = [newId(), newId()];
  const children = Array.from({ length: CHILDREN }, () => newId());
  for (const id of children) core.app.registry.organization(id, { tenant });
  core.app.registry.organization(neighbour, { tenant: neighbour });
  const tenants = core.app.app.get(Tenants, { strict: false });
  await eventually(() => {
    expect(new Set(children.map((id) => tenants.of(id)))).toEqual(new Set([tenant]));
  });
  return { children, neighbour };
}

const jobOf = <T>(type: Type<T>): T => core.app.app.get(type, { strict: false });

/** A job that does one item after the other, and the rows that it takes; `$2` is since when they wait. */
interface Stepwise {
  readonly job: Type;
  readonly table: string;
  readonly columns: string;
  readonly values: string;
  /** SQL that holds of a row that is not done. */
  readonly open: string;
}

const chains = (values: string): Pick<Stepwise, 'table' | 'columns' | 'values'> => ({
  table: 'audit_chains',
  columns: 'head_seq, head_hash, status, signed_seq, sign_at, verify_at',
  values,
});

const STEPWISE: Readonly<Record<string, Stepwise>> = {
  conversions: {
    job: ConversionRunner,
    table: 'attribute_conversions',
    columns: 'definition_id, initial, on_failure, phase, total, correlation_id, started_at, moved_at',
    // Of the attribute that is called after its organization.
    values: `id, true, 'clear', 'ending', 0, ${ANY}, now(), $2`,
    open: 'true',
  },
  erasures: {
    job: ErasureRunner,
    table: 'contact_erasures',
    columns:
      'subject_request_id, contact_id, correlation_id, step, contact_ids, identifiers, counts, asked_at, moved_at, created_at',
    values: `${ANY}, ${ANY}, ${ANY}, 'asked', '{}', '[]', '{}', now() - interval '2 days', $2, now()`,
    open: "asked_at < now() - interval '1 day'",
  },
  receipts: {
    job: ReceiptVerifier,
    table: 'subject_request_receipts',
    columns: 'subject_request_id, module, state, counts, signature, received_at',
    values: `${ANY}, 'crm', 'received', '{}', 'none', $2`,
    open: "state = 'received'",
  },
  warnings: {
    job: DueWarnings,
    table: 'subject_requests',
    columns:
      'id, type, state, contact_id, jurisdiction, received_at, due_at, correlation_id, created_at, updated_at',
    values: `${ANY}, 'access', 'verifying', ${ANY}, 'CL', now(), $2::timestamptz + interval '60 hours', ${ANY}, now(), now()`,
    open: 'warned_days IS NULL',
  },
  'ends of consents': {
    job: ConsentExpiry,
    table: 'consent_expirations',
    columns: 'event_id, contact_id, expires_at',
    values: `${ANY}, ${ANY}, $2`,
    open: 'true',
  },
  'signatures of the audit log': {
    job: AuditCheckpoints,
    ...chains(`1, decode(repeat('00', 32), 'hex'), 'broken', 0, $2, now() + interval '1 year'`),
    open: 'sign_at < now()',
  },
  'verifications of the audit log': {
    job: AuditVerification,
    ...chains(`0, decode(repeat('00', 32), 'hex'), 'intact', 0, now() + interval '1 year', $2`),
    open: 'verified_at IS NULL',
  },
};

describe.each(Object.entries(STEPWISE))('%s', (_name, { job, table, columns, values, open }) => {
  it('of tenants take turns, however many organizations one of them has founded', async () => {
    const { children, neighbour } = await aNeighbourhood();
    const give = (ids: readonly string[], since: Date): Promise<unknown> =>
      core.database.query(
        `INSERT INTO ${table} (organization_id, ${columns}) SELECT id, ${values} FROM unnest($1::uuid[]) AS id`,
        [ids, since],
      );
    if (table === 'attribute_conversions') await define([...children, neighbour]);
    await give(children, new Date(Date.now() - 3_600_000));
    await give([neighbour], new Date(Date.now() - 60_000));
    const left = (ids: readonly string[]): Promise<unknown[]> =>
      core.database.query(`SELECT FROM ${table} WHERE organization_id = ANY($1::uuid[]) AND ${open}`, [ids]);
    const running = jobOf(job) as unknown as { runNext(): Promise<boolean> };
    expect([await running.runNext(), await running.runNext()]).toEqual([true, true]);
    expect(await left([neighbour])).toHaveLength(0);
    expect(await left(children)).toHaveLength(CHILDREN - 1);
    while (await running.runNext());
    expect(await left(children)).toHaveLength(0);
  });

  /** A conversion is of an attribute. */
  async function define(ids: readonly string[]): Promise<void> {
    await core.database.query(
      `INSERT INTO attribute_definitions (organization_id, id, key, label, type, member_visible, created_at, updated_at)
       SELECT id, id, 'key', 'Label', 'string', false, now(), now() FROM unnest($1::uuid[]) AS id`,
      [ids],
    );
  }
});

it.each(['signatures of the audit log', 'verifications of the audit log'])(
  '%s leave one that fails alone for a while, however soon they look again',
  async (name) => {
    const { job, table, columns, values } = STEPWISE[name] as Stepwise;
    const organizationId = newId();
    await core.database.query(
      `INSERT INTO ${table} (organization_id, ${columns}) SELECT id, ${values} FROM (SELECT $1::uuid AS id) AS one`,
      [organizationId, new Date(Date.now() - 60_000)],
    );
    const fault = await DatabaseFault.in(core.database, {
      table,
      on: 'UPDATE',
      when: `NEW.organization_id = '${organizationId}'`,
    });
    const failures = jest.spyOn(ItemBackoff.prototype, 'failed');
    try {
      await (jobOf(job) as unknown as { runAll(): Promise<boolean> }).runAll();
      expect(failures.mock.calls.map(([item]) => item)).toEqual([organizationId]);
    } finally {
      failures.mockRestore();
      await fault.mend();
      await core.database.query(`DELETE FROM ${table} WHERE organization_id = $1`, [organizationId]);
    }
  },
);

function changeSegmentsOf(ids: readonly string[]): Promise<unknown> {
  return core.database.query(
    `INSERT INTO segment_changes (organization_id, contact_id, cause, touched, correlation_id)
     SELECT id, ${ANY}, 'event', ARRAY['event:invoice_paid'], ${ANY} FROM unnest($1::uuid[]) AS id`,
    [ids],
  );
}

it('evaluations of segments go by tenant', async () => {
  const { children, neighbour } = await aNeighbourhood();
  await changeSegmentsOf([...children, neighbour]);
  const evaluator = jobOf(SegmentEvaluator);
  const turns = jest.spyOn(evaluator, 'turn');
  await evaluator.runAll();
  const taken = turns.mock.calls.map(([id]) => id);
  turns.mockRestore();
  expect(taken.indexOf(neighbour)).toBeLessThanOrEqual(1);
  expect(new Set(taken)).toEqual(new Set([...children, neighbour]));
});

it('evaluations of segments count no turn for what another instance evaluates', async () => {
  const [{ children }, { children: others }] = [await aNeighbourhood(), await aNeighbourhood()];
  await changeSegmentsOf([...children, ...others]);
  const evaluator = jobOf(SegmentEvaluator);
  const last = children.at(-1) ?? '';
  const shares = jest
    .spyOn(jobOf(EvaluatorShares), 'has')
    .mockImplementation((id) => id === last || others.includes(id));
  const turns = jest.spyOn(evaluator, 'turn');
  await (evaluator as unknown as { pass(): Promise<boolean> }).pass();
  const taken = turns.mock.calls.map(([id]) => id);
  turns.mockRestore();
  shares.mockRestore();
  expect(taken.indexOf(last)).toBeLessThanOrEqual(1);
  expect(new Set(taken)).toEqual(new Set([last, ...others]));
});

it('evaluations of segments that fail have their tenant come after others', async () => {
  const [{ children }, { children: others }] = [await aNeighbourhood(), await aNeighbourhood()];
  await changeSegmentsOf([...children, ...others]);
  const evaluator = jobOf(SegmentEvaluator);
  const shares = jest
    .spyOn(jobOf(EvaluatorShares), 'has')
    .mockImplementation((id) => children.includes(id) || others.includes(id));
  const turns = jest
    .spyOn(evaluator, 'turn')
    .mockImplementation((id) =>
      children.includes(id) ? Promise.reject(new Error('fails')) : Promise.resolve(false),
    );
  // For as long as a failure has others come first.
  const time = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
  await (evaluator as unknown as { pass(): Promise<boolean> }).pass();
  const taken = turns.mock.calls.map(([id]) => id);
  for (const spy of [time, turns, shares]) spy.mockRestore();
  const [first = 0, second] = taken.flatMap((id, at) => (children.includes(id) ? [at] : []));
  expect([first <= 1, second]).toEqual([true, CHILDREN + 1]);
});

function queueLettersOf(ids: readonly string[]): Promise<unknown> {
  return core.database.query(
    `INSERT INTO dead_letters (organization_id, id, event_id, type, stage, code, detail, attempts, state, fingerprint,
                               received_at, first_failed_at, last_failed_at)
     SELECT id, ${ANY}, ${ANY}, 'track', 'loyalty', 'internal_error', 'x', 1, 'replaying', ${ANY}, now(), now(), now()
       FROM unnest($1::uuid[]) AS id`,
    [ids],
  );
}

it('replays of dead letters go by tenant', async () => {
  const { children, neighbour } = await aNeighbourhood();
  await queueLettersOf([...children, neighbour]);
  const replayer = jobOf(DeadLetterReplayer);
  const turns = jest.spyOn(replayer as unknown as { runNext(id: string): Promise<boolean> }, 'runNext');
  await replayer.runAll();
  const taken = turns.mock.calls.map(([id]) => id);
  turns.mockRestore();
  expect(taken.indexOf(neighbour)).toBeLessThanOrEqual(1);
  expect(new Set(taken)).toEqual(new Set([...children, neighbour]));
});

it('replays of dead letters that fail have their tenant come after others', async () => {
  const [{ children }, { children: others }] = [await aNeighbourhood(), await aNeighbourhood()];
  await queueLettersOf([...children, ...others]);
  const replayer = jobOf(DeadLetterReplayer);
  interface Replaying {
    runStage(tx: unknown, letter: { organization_id: string }): Promise<undefined>;
  }
  const tried: string[] = [];
  const stages = jest
    .spyOn(replayer as unknown as Replaying, 'runStage')
    .mockImplementation((_tx, { organization_id: id }) => {
      tried.push(id);
      return children.includes(id) ? Promise.reject(new Error('fails')) : Promise.resolve(undefined);
    });
  // For as long as a failure has others come first.
  const time = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
  await replayer.runAll();
  for (const spy of [time, stages]) spy.mockRestore();
  const [first = 0, second] = tried.flatMap((id, at) => (children.includes(id) ? [at] : []));
  expect([first <= 1, second]).toEqual([true, CHILDREN + 1]);
});
