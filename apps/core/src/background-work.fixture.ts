import { mkdir, readdir, rename, rmdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@customer-platform/database';
import {
  consumedEvents,
  failuresOf,
  type Caller,
  type Fault,
  type WorkScenario,
} from '@customer-platform/testing';
import { anAuditEntry, publishAudit } from './audit-log/audit-log.fixture.js';
import { aTrack, type TestCore } from './core.fixture.js';
import { send } from './imports/import.fixture.js';
import { ArchiveSeal } from './subject-requests/archive/archive-seal.js';

/** Core as its background work meets it. */
export interface WorkingCore {
  readonly core: TestCore;
  /** The folder of the files of imports. */
  readonly folder: string;
  callerOf(organizationId: string): Caller;
}

/** Each takes several transactions. */
const MANY = 100;
/** How many events one call takes. */
const BATCH = 500;

const PERIOD = `
  INSERT INTO retention_periods (organization_id, kind, wanted_days, wanted_since, days)
  VALUES ($1, 'events', 30, now() - interval '90 days', 30)
  ON CONFLICT (organization_id, kind) DO UPDATE SET wanted_days = 30, days = 30`;

const OLD_EVENTS = `
  INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at,
                      payload, source, fingerprint, created_at)
  SELECT $1, gen_random_uuid(), 'track', 'past', 'x', gen_random_uuid(), gen_random_uuid()::text, past, past, '{}', 'api',
         gen_random_uuid(), past
    FROM generate_series(1, $2::int), (SELECT now() - interval '60 days') AS old (past)`;

const OLD_ERRORS = `
  WITH import AS (
    INSERT INTO imports (organization_id, id, state, options, columns, file_bytes, file_rows, file_sha256, position, line,
                         errors, actor_type, actor_id, correlation_id, moved_at, ended_at, created_at, updated_at)
    SELECT $1, gen_random_uuid(), 'completed', '{}', '{}', 1, 1, '', 1, 1, 1, 'key', 'spec', gen_random_uuid(), past, past,
           past, past
      FROM (SELECT now() - interval '91 days') AS old (past)
    RETURNING id)
  INSERT INTO import_errors (organization_id, import_id, place, line, code, subjects)
  SELECT $1, id, place, place, 'required', '{}' FROM import, generate_series(1, $2::int) AS place`;

const LONG_AGO = new Date('2026-01-01');

/** Scenarios of work that takes more than rows of a table: of consumers, and of what reads files or asks other modules. */
export class CoreScenarios {
  /** How many records an organization was given. */
  private readonly given = new Map<string, number>();
  /** The names of files that an organization was given. */
  private readonly files = new Map<string, string[]>();
  /** Organizations whose files cannot be removed. */
  private readonly kept = new Set<string>();

  constructor(private readonly running: () => WorkingCore) {}

  /** Receipts of erasures, which is what core hears of others. */
  domainEvents(): WorkScenario {
    return consumedEvents(() => ({ app: this.running().core.app, database: this.running().core.database }), {
      event: async (organizationId) => {
        const requestId = newId();
        await this.query(
          `INSERT INTO subject_requests (organization_id, id, type, state, contact_id, jurisdiction, received_at, due_at,
                                         correlation_id, created_at, updated_at)
           VALUES ($1, $2, 'erasure', 'in_progress', gen_random_uuid(), 'CL', now(), now() + interval '1 year',
                   gen_random_uuid(), now(), now())`,
          [organizationId, requestId],
        );
        const data = { subject_request_id: requestId, counts: {}, receipt: 'none' };
        return { type: 'crm.erasure.completed.v1', organizationId, data };
      },
      fault: (organizationId) => this.inserting('subject_request_receipts', organizationId),
      done: 'SELECT count(*)::int FROM subject_request_receipts WHERE organization_id = $1',
    });
  }

  /** Accepted events: those that fail are dead letters, and are replayed. */
  ingestion(): WorkScenario {
    return {
      give: (organizationId, rows) => this.track(organizationId, rows),
      fault: (organizationId) => this.inserting('events', organizationId),
      left: (organizationId) =>
        this.leftOf(organizationId, 'SELECT count(*)::int FROM events WHERE organization_id = $1'),
      told: (organizationId) =>
        this.count('SELECT count(*)::int FROM dead_letters WHERE organization_id = $1', organizationId),
      many: MANY,
      again: async (organizationId) => {
        await this.query(
          `UPDATE dead_letters SET state = 'replaying' WHERE organization_id = $1 AND state = 'pending'`,
          [organizationId],
        );
      },
    };
  }

  /** What has been accepted of an organization; what could not be counted is added when others' events come. */
  acceptances(other: () => Promise<string> | string): WorkScenario {
    const { told: _letters, ...ingestion } = this.ingestion();
    return {
      ...ingestion,
      fault: (organizationId) => this.inserting('usage_acceptances', organizationId),
      left: (organizationId) =>
        this.leftOf(
          organizationId,
          'SELECT coalesce(sum(counted), 0)::int AS count FROM usage_acceptances WHERE organization_id = $1',
        ),
      again: async () => this.track(await other(), 1),
    };
  }

  /** Acts of other modules: those whose chain takes no rows are set aside, and published again. */
  auditLog(): WorkScenario {
    return {
      give: async (organizationId, rows) => {
        const values = Array.from({ length: rows }, () => JSON.stringify(anAuditEntry(organizationId)));
        await publishAudit(this.running().core, organizationId, values);
        this.gave(organizationId, rows);
      },
      fault: (organizationId) => this.inserting('audit_log', organizationId),
      left: (organizationId) =>
        this.leftOf(
          organizationId,
          "SELECT count(*)::int FROM audit_log WHERE organization_id = $1 AND module = 'crm'",
        ),
      told: (organizationId) =>
        this.count('SELECT count(*)::int FROM unreadable_records WHERE key = $1', organizationId),
      many: MANY,
      again: async (organizationId) => {
        const rows = await this.query<{ value: Buffer }>(
          'DELETE FROM unreadable_records WHERE key = $1 RETURNING value',
          [organizationId],
        );
        await publishAudit(
          this.running().core,
          organizationId,
          rows.map(({ value }) => value.toString('utf8')),
        );
      },
    };
  }

  /** A file each; of an organization they are taken one after the other, so that only its oldest can fail. */
  imports(): WorkScenario {
    return {
      give: async (organizationId) => {
        const answer = await send(this.running().callerOf(organizationId), 'id,mail,name\none,,One\n');
        expect(answer.status).toBe(202);
      },
      fault: (organizationId) => ({ ...this.of('imports', organizationId), on: 'UPDATE' }),
      left: (organizationId) =>
        this.count(
          "SELECT count(*)::int FROM imports WHERE organization_id = $1 AND state <> 'completed'",
          organizationId,
        ),
      single: true,
    };
  }

  /** All that is gathered; the last module's page and the file are left. */
  archives(): WorkScenario {
    return {
      give: async (organizationId, rows) => {
        const seal = this.running().core.app.app.get(ArchiveSeal);
        const ids = Array.from({ length: rows }, () => newId());
        const keys = ids.map((id) =>
          seal.newKey({ organization_id: organizationId, subject_request_id: id }),
        );
        await this.query(
          `INSERT INTO subject_requests (organization_id, id, type, state, contact_id, jurisdiction, received_at, due_at,
                                         correlation_id, created_at, updated_at)
           SELECT $1, id, 'portability', 'in_progress', gen_random_uuid(), 'CL', now(), now() + interval '1 year',
                  gen_random_uuid(), now(), now()
             FROM unnest($2::uuid[]) AS id`,
          [organizationId, ids],
        );
        await this.query(
          `INSERT INTO subject_archives (organization_id, subject_request_id, contact_ids, portable, locale, correlation_id,
                                         step, module, pieces, key_sealed, claimed_until, moved_at, created_at)
           SELECT $1, id, ARRAY[gen_random_uuid()], true, 'en', gen_random_uuid(), 'gather', 'messaging', 0, key, now(),
                  now(), now()
             FROM unnest($2::uuid[], $3::text[]) AS given (id, key)`,
          [organizationId, ids, keys],
        );
      },
      fault: (organizationId) => ({ ...this.of('subject_archives', organizationId), on: 'UPDATE' }),
      left: (organizationId) =>
        this.count(
          "SELECT count(*)::int FROM subject_archives WHERE organization_id = $1 AND step <> 'ready'",
          organizationId,
        ),
      many: MANY,
    };
  }

  /** The last step of a conversion without contacts. */
  conversions(): WorkScenario {
    return {
      give: async (organizationId, rows) => {
        await this.query(
          `WITH definition AS (
             INSERT INTO attribute_definitions (organization_id, id, key, label, type, member_visible, created_at, updated_at)
             SELECT $1, gen_random_uuid(), 'key_' || n, 'Label', 'string', false, now(), now()
               FROM generate_series(1, $2::int) AS n
             RETURNING id)
           INSERT INTO attribute_conversions (organization_id, definition_id, initial, on_failure, phase, total, correlation_id,
                                              started_at, moved_at)
           SELECT $1, id, true, 'clear', 'ending', 0, gen_random_uuid(), now(), now() FROM definition`,
          [organizationId, rows],
        );
      },
      fault: (organizationId) => this.deleting('attribute_conversions', organizationId),
      left: (organizationId) =>
        this.count(
          'SELECT count(*)::int FROM attribute_conversions WHERE organization_id = $1',
          organizationId,
        ),
      many: MANY,
    };
  }

  /** Events that have been kept for as long as the organization wants. */
  retention(): WorkScenario {
    return {
      give: async (organizationId, rows) => {
        const { registry } = this.running().core.app;
        registry.organization(organizationId, { settings: { retention: { events_days: 30 } } });
        await this.query(PERIOD, [organizationId]);
        await this.query(OLD_EVENTS, [organizationId, rows]);
      },
      fault: (organizationId) => this.deleting('events', organizationId),
      told: async (organizationId) => {
        await this.query(PERIOD, [organizationId]);
        return failuresOf('organization-retention');
      },
      left: async (organizationId) => {
        // A pass that asked identity before it knew of the period has forgotten it since.
        await this.query(PERIOD, [organizationId]);
        return this.count('SELECT count(*)::int FROM events WHERE organization_id = $1', organizationId);
      },
    };
  }

  /** Errors of an import that ended long ago. */
  errorsOfImports(): WorkScenario {
    return {
      give: async (organizationId, rows) => {
        await this.query(OLD_ERRORS, [organizationId, rows]);
      },
      fault: (organizationId) => this.deleting('import_errors', organizationId),
      left: (organizationId) =>
        this.count('SELECT count(*)::int FROM import_errors WHERE organization_id = $1', organizationId),
      many: MANY,
    };
  }

  /** Files that no import reads. In place of one that cannot be removed lies a folder. */
  leftFiles(): WorkScenario {
    return {
      give: async (organizationId, rows) => {
        const names = Array.from({ length: rows }, () => newId());
        this.files.set(organizationId, [...(this.files.get(organizationId) ?? []), ...names]);
        for (const name of names) await (this.kept.has(organizationId) ? this.lay(name) : this.leave(name));
      },
      fault: (organizationId) => ({
        begin: () => {
          this.kept.add(organizationId);
          const mend = async (): Promise<void> => {
            this.kept.delete(organizationId);
            for (const name of this.files.get(organizationId) ?? []) {
              await rmdir(join(this.running().folder, name));
              await this.leave(name);
            }
          };
          return Promise.resolve({ mend });
        },
      }),
      left: async (organizationId) => {
        const there = new Set(await readdir(this.running().folder));
        return (this.files.get(organizationId) ?? []).filter((name) => there.has(name)).length;
      },
      many: MANY,
    };
  }

  /** A file, which is old when it comes to lie there. */
  private async leave(name: string): Promise<void> {
    const { folder } = this.running();
    const made = join(folder, `of-the-spec-${name}`);
    await writeFile(made, 'x');
    await utimes(made, LONG_AGO, LONG_AGO);
    await rename(made, join(folder, name));
  }

  private async lay(name: string): Promise<void> {
    const path = join(this.running().folder, name);
    await mkdir(path);
    await utimes(path, LONG_AGO, LONG_AGO);
  }

  private deleting(table: string, organizationId: string): Fault {
    return { table, on: 'DELETE', when: `OLD.organization_id = '${organizationId}'` };
  }

  private inserting(table: string, organizationId: string): Fault {
    return { ...this.of(table, organizationId), on: 'INSERT' };
  }

  private of(table: string, organizationId: string): Pick<Fault, 'table' | 'when'> {
    return { table, when: `NEW.organization_id = '${organizationId}'` };
  }

  private async track(organizationId: string, rows: number): Promise<void> {
    const caller = this.running().callerOf(organizationId);
    for (let left = rows; left > 0; left -= BATCH) {
      const events = Array.from({ length: Math.min(left, BATCH) }, () => ({ type: 'track', ...aTrack() }));
      const answer = await caller.post<{ accepted: number }>('/v1/core/batch', { events });
      expect(answer).toMatchObject({ body: { accepted: events.length } });
    }
    this.gave(organizationId, rows);
  }

  private gave(organizationId: string, rows: number): void {
    this.given.set(organizationId, (this.given.get(organizationId) ?? 0) + rows);
  }

  private async leftOf(organizationId: string, sql: string): Promise<number> {
    return (this.given.get(organizationId) ?? 0) - (await this.count(sql, organizationId));
  }

  private async count(sql: string, organizationId: string): Promise<number> {
    const [row] = await this.query<{ count: number }>(sql, [organizationId]);
    return row?.count ?? NaN;
  }

  private query<Row extends object>(sql: string, values: unknown[]): Promise<Row[]> {
    return this.running().core.database.query<Row>(sql, values);
  }
}
