import { Injectable } from '@nestjs/common';
import { systemActor, type AuditContext } from '@customer-platform/audit';
import { Clock, Database, newId, type WorkerTransaction } from '@customer-platform/database';
import type { EndedReason } from './session.dto.js';
import { SessionEndings } from './session-endings.js';

/** Ended at once, so that no transaction is long. */
const MOST_AT_ONCE = 500;

/** Which sessions or impersonations end. `$1` is an organization, `$2` the time where it matters. */
export interface Ending {
  /** As `s`. */
  readonly table: 'sessions' | 'impersonations';
  readonly where: string;
  /** SQL over `s`. */
  readonly reason: string;
  readonly byTime: boolean;
}

/** The organizations that have any, a page of them at a time. */
const organizationsWith = ({ table, where }: Ending): string => `
SELECT DISTINCT s.organization_id FROM ${table} s
 WHERE s.organization_id > $1 AND ${where}
 ORDER BY s.organization_id LIMIT ${String(MOST_AT_ONCE)}`;

const ofOrganization = ({ table, where, reason }: Ending): string => `
SELECT s.id, s.user_id, ${reason} AS reason FROM ${table} s
 WHERE s.organization_id = $1 AND ${where}
 LIMIT ${String(MOST_AT_ONCE)} FOR UPDATE OF s SKIP LOCKED`;

/** Before all organizations. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

interface EndingRow {
  id: string;
  user_id: string;
  reason: EndedReason;
}

/** What waits for it, and may end meanwhile. */
interface Pass {
  readonly stopping: boolean;
  progressed(): void;
  /** Hears of an organization of which it failed; without it the first failure is thrown at the end. */
  failed?(organizationId: string, error: unknown): void;
  passed?(organizationId: string): void;
}

/** Told in the transaction of each piece. */
export type PieceEnded = (tx: WorkerTransaction, context: AuditContext) => Promise<void>;

/** Ends what there is of many organizations, with nobody's permission. Several may do so at once, and be killed. */
@Injectable()
export class EndingsInPieces {
  constructor(
    private readonly database: Database,
    private readonly endings: SessionEndings,
    private readonly clock: Clock,
  ) {}

  /** Of one organization where it fails the others are ended nevertheless. @throws what failed first */
  async endAll(ending: Ending, actor: string, pass: Pass, told?: PieceEnded): Promise<number> {
    const failures: unknown[] = [];
    let ended = 0;
    for await (const organizationId of this.organizationsWith(ending, pass)) {
      const context = systemActor(organizationId, newId(), actor);
      try {
        ended += await this.endAllOf(context, ending, pass, told);
        pass.passed?.(organizationId);
      } catch (error) {
        if (pass.failed) pass.failed(organizationId, error);
        else failures.push(error);
      }
      pass.progressed();
    }
    if (failures.length > 0) throw failures[0];
    return ended;
  }

  private async *organizationsWith(ending: Ending, pass: Pass): AsyncGenerator<string> {
    for (let last: string | undefined = NOBODY; last !== undefined && !pass.stopping;) {
      const values = this.values(last, ending);
      const page = await this.database.acrossOrganizations((tx) =>
        tx.query<{ organization_id: string }>(organizationsWith(ending), values),
      );
      for (const { organization_id: organizationId } of page) {
        if (pass.stopping) return;
        yield organizationId;
      }
      last = page.length === MOST_AT_ONCE ? page.at(-1)?.organization_id : undefined;
    }
  }

  /**
   * Each organization in transactions of its own: an ending locks the organization's epoch until the commit, and whoever
   * holds that of one only can neither deadlock with another pass nor keep one organization waiting for another.
   */
  private async endAllOf(
    context: AuditContext,
    ending: Ending,
    pass: Pass,
    told?: PieceEnded,
  ): Promise<number> {
    let ended = 0;
    for (let step = MOST_AT_ONCE; step === MOST_AT_ONCE && !pass.stopping; ended += step) {
      step = await this.endSome(context, ending, told);
      pass.progressed();
    }
    return ended;
  }

  private endSome(context: AuditContext, ending: Ending, told?: PieceEnded): Promise<number> {
    const { organizationId } = context;
    return this.database.acrossOrganizations(async (tx) => {
      const rows = await tx.query<EndingRow>(ofOrganization(ending), this.values(organizationId, ending));
      for (const { id, user_id: userId, reason } of rows)
        await this.endings.endAll(tx, context, { userId, organizationId, only: id }, reason);
      if (rows.length > 0) await told?.(tx, context);
      return rows.length;
    });
  }

  private values(organizationId: string, { byTime }: Ending): unknown[] {
    return byTime ? [organizationId, this.clock.now()] : [organizationId];
  }
}
