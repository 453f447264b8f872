import { Clock } from '@customer-platform/database';
import {
  itHoldsUpNoOther,
  outboxRows,
  type Caller,
  type Fault,
  type WorkScenario,
} from '@customer-platform/testing';
import { CoreScenarios } from './background-work.fixture.js';
import { startCoreWithPeers, type CoreWithPeers } from './people/contacts/contact.fixture.js';
import { aFolder } from './imports/import.fixture.js';
import { Refusals } from './ingestion/refusals.js';

/** A retention finds those that fail by halves; with a thousand: libs/database/test/retention.spec.ts. */
const MANY = 100;

let running: CoreWithPeers;
let folder: Awaited<ReturnType<typeof aFolder>>;
const callerOf = new Map<string, Caller>();
afterAll(async () => {
  await running.close();
  await folder.remove();
});

const newOrganization = (): string => {
  const { id, caller } = running.core.anOrganization();
  callerOf.set(id, caller);
  return id;
};

const further = new CoreScenarios(() => ({
  core: running.core,
  folder: folder.path,
  callerOf: (id) => {
    const caller = callerOf.get(id);
    if (!caller) throw new Error(`${id} is no organization of this spec`);
    return caller;
  },
}));

/** Rows of a table; `when` is PL/pgSQL beside the organization's, `open` is SQL that holds of a row that is not done. */
const rowsOf = (
  table: string,
  row: { columns: string; values: string },
  fault: Pick<Fault, 'on'> & { when?: string; in?: string },
  open = 'true',
): WorkScenario => ({
  give: async (organizationId, rows) => {
    await running.core.database.query(
      `INSERT INTO ${table} (organization_id, ${row.columns}) SELECT $1, ${row.values} FROM generate_series(1, $2::int)`,
      [organizationId, rows],
    );
  },
  fault: (organizationId) => ({
    table: fault.in ?? table,
    on: fault.on,
    when: `${fault.on === 'DELETE' ? 'OLD' : 'NEW'}.organization_id = '${organizationId}' AND ${fault.when ?? 'true'}`,
  }),
  left: async (organizationId) => {
    const rows = await running.core.database.query(
      `SELECT FROM ${table} WHERE organization_id = $1 AND ${open}`,
      [organizationId],
    );
    return rows.length;
  },
});

const ANY = 'gen_random_uuid()';

/** An organization without segments has nothing to evaluate. */
const withSegment = (scenario: WorkScenario): WorkScenario => ({
  ...scenario,
  give: async (organizationId, rows) => {
    const rule = { event: 'invoice_paid', within: 'P30D' };
    const answer = await callerOf.get(organizationId)?.post('/v1/core/segments', { name: 'Paid', rule });
    expect(answer?.status).toBe(201);
    await scenario.give(organizationId, rows);
  },
});

itHoldsUpNoOther({
  start: async () => {
    folder = await aFolder();
    running = await startCoreWithPeers(
      () => ({ 'POST /internal/subject-rows': () => ({ resource: null, rows: [], next: null }) }),
      { IMPORT_DIRECTORY: folder.path },
    );
    let ahead = 0;
    running.core.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
    return {
      database: running.core.database,
      organization: newOrganization,
      pass: (ms) => (ahead += ms),
    };
  },
  scenarios: {
    'outbox-relay': outboxRows(() => running.core, 'core.domain-events'),
    'core.domain-events': further.domainEvents(),
    'core.ingestion': further.ingestion(),
    'core.ingestion.acceptances': further.acceptances(newOrganization),
    'core.audit-log': further.auditLog(),
    'contact-import': further.imports(),
    'import-files': further.leftFiles(),
    'import-error-retention': further.errorsOfImports(),
    'subject-archive': further.archives(),
    'expired-subject-archives': {
      ...rowsOf(
        'subject_archives',
        {
          columns:
            'subject_request_id, contact_ids, portable, locale, correlation_id, step, module, pieces, key_sealed, claimed_until, moved_at, created_at, expires_at',
          values: `${ANY}, '{}', true, 'en', ${ANY}, 'ready', 'messaging', 1, 'none', now(), now(), now(), '2026-01-01'`,
        },
        { on: 'DELETE' },
      ),
      many: MANY,
    },
    'idempotency-retention': {
      ...rowsOf(
        'idempotency_keys',
        {
          columns: 'route, key_hash, fingerprint, expires_at',
          values: `'POST /v1/core/contacts', sha256(${ANY}::text::bytea), 'none', '2026-01-01'`,
        },
        { on: 'DELETE' },
      ),
      many: MANY,
    },
    'inbox-retention': {
      ...rowsOf(
        'inbox',
        { columns: 'consumer, event_id, claimed_at', values: `'spec', ${ANY}, '2026-01-01'` },
        { on: 'DELETE' },
      ),
      many: MANY,
    },
    'organization-retention': further.retention(),
    'attribute-conversion': further.conversions(),
    'contact-erasure': rowsOf(
      'contact_erasures',
      {
        columns:
          'subject_request_id, contact_id, correlation_id, step, contact_ids, identifiers, counts, asked_at, moved_at, created_at',
        values: `${ANY}, ${ANY}, ${ANY}, 'asked', '{}', '[]', '{}', now() - interval '2 days', now(), now()`,
      },
      { on: 'UPDATE' },
      "asked_at < now() - interval '1 day'",
    ),
    'erasure-receipts': rowsOf(
      'subject_request_receipts',
      {
        columns: 'subject_request_id, module, state, counts, signature, received_at',
        values: `${ANY}, 'crm', 'received', '{}', 'none', now() - interval '1 day'`,
      },
      { on: 'UPDATE' },
      "state = 'received'",
    ),
    'subject-request-due': rowsOf(
      'subject_requests',
      {
        columns:
          'id, type, state, contact_id, jurisdiction, received_at, due_at, correlation_id, created_at, updated_at',
        values: `${ANY}, 'access', 'verifying', ${ANY}, 'CL', now(), now() + interval '60 hours', ${ANY}, now(), now()`,
      },
      { on: 'UPDATE' },
      'warned_days IS NULL',
    ),
    'consent-expiry': rowsOf(
      'consent_expirations',
      { columns: 'event_id, contact_id, expires_at', values: `${ANY}, ${ANY}, now() - interval '1 hour'` },
      { on: 'DELETE' },
    ),
    'dead-letter-replay': rowsOf(
      'dead_letters',
      {
        columns:
          'id, event_id, type, stage, code, detail, attempts, state, fingerprint, received_at, first_failed_at, last_failed_at',
        values: `${ANY}, ${ANY}, 'track', 'loyalty', 'internal_error', 'x', 1, 'replaying', ${ANY}, now(), now(), now()`,
      },
      { on: 'UPDATE', when: "NEW.state = 'replayed'" },
      "state <> 'replayed'",
    ),
    segments: withSegment(
      rowsOf(
        'segment_changes',
        {
          columns: 'contact_id, cause, touched, correlation_id',
          values: `${ANY}, 'event', ARRAY['event:invoice_paid'], ${ANY}`,
        },
        { on: 'DELETE' },
      ),
    ),
    'audit-verification': {
      ...rowsOf(
        'audit_chains',
        {
          columns: 'head_seq, head_hash, status, signed_seq, sign_at, verify_at',
          values: `0, decode(repeat('00', 32), 'hex'), 'intact', 0, now() + interval '1 year', '2026-01-01'`,
        },
        { on: 'UPDATE', when: 'NEW.verified_at IS DISTINCT FROM OLD.verified_at' },
        'verified_at IS NULL',
      ),
      single: true,
    },
    'audit-checkpoints': {
      ...rowsOf(
        'audit_chains',
        {
          columns: 'head_seq, head_hash, status, signed_seq, sign_at, verify_at',
          values: `1, decode(repeat('00', 32), 'hex'), 'broken', 0, '2026-01-01', now() + interval '1 year'`,
        },
        { on: 'UPDATE' },
        "sign_at = '2026-01-01'",
      ),
      single: true,
    },
    'refused-events': {
      give: (organizationId, rows) => {
        running.core.app.app.get(Refusals, { strict: false }).count(organizationId, rows);
        return Promise.resolve();
      },
      fault: (organizationId) => ({
        table: 'usage_refusals',
        on: 'INSERT',
        when: `NEW.organization_id = '${organizationId}'`,
      }),
      left: async (organizationId) => {
        const [row] = await running.core.database.query<{ refused: number }>(
          'SELECT refused::int FROM usage_refusals WHERE organization_id = $1',
          [organizationId],
        );
        return row ? 0 : 1;
      },
      single: true,
    },
  },
  without: {},
  mixed: true,
  mostWithout: 0,
});
