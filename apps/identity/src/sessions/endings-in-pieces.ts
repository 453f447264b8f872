import { Injectable } from '@nestjs/common';
import { systemActor, type AuditContext } from '@customer-platform/audit';
import { Clock, Database, isAway, newId, type WorkerTransaction } from '@customer-platform/database';
import { FailingPieces, type FailureAllowance } from '@customer-platform/http';
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

const ofOrganization = ({ table, where, reason, byTime }: Ending, which: 'all but' | 'only'): string => `
SELECT s.id, s.user_id, ${reason} AS reason FROM ${table} s
 WHERE s.organization_id = $1 AND ${where}
   AND s.id ${which === 'only' ? '= ANY' : '<> ALL'} ($${byTime ? '3' : '2'}::uuid[])
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
  /** The time that failures may take before the rest waits for the next pass. */
  readonly allowance: FailureAllowance;
  progressed(): void;
  /** Hears of an organization of which it failed; without it the first failure is thrown at the end. */
  failed?(organizationId: string, error: unknown): void;
  passed?(organizationId: string): void;
  /** Set to false where those of the organization that failed before are not tried again. */
  retries?(organizationId: string): boolean;
}

/** Told in the transaction of each piece. */
export type PieceEnded = (tx: WorkerTransaction, context: AuditContext) => Promise<void>;

/** Ends what there is of many organizations, with nobody's permission. Several may do so at once, and be killed. */
@Injectable()
export class EndingsInPieces {
  /** The organizations of which one failed, by ending; those tried last come last. */
  private readonly failing = new Map<Ending, Map<string, FailingPieces<string>>>();

  constructor(
    private readonly database: Database,
    private readonly endings: SessionEndings,
    private readonly clock: Clock,
  ) {}

  /** Ends the others beside those that fail, of any organization. @throws what failed first */
  async endAll(ending: Ending, actor: string, pass: Pass, told?: PieceEnded): Promise<number> {
    const failing = this.failing.get(ending) ?? new Map<string, FailingPieces<string>>();
    this.failing.set(ending, failing);
    const failures: unknown[] = [];
    const fails = (organizationId: string, error: unknown): void => {
      if (pass.failed) pass.failed(organizationId, error);
      else failures.push(error);
    };
    let ended = 0;
    for await (const organizationId of this.organizationsWith(ending, pass)) {
      if (failing.has(organizationId)) continue;
      const context = systemActor(organizationId, newId(), actor);
      try {
        ended += await this.endAllOf(context, ending, pass, told);
        pass.passed?.(organizationId);
      } catch (error) {
        if (isAway(error)) fails(organizationId, error);
        else failing.set(organizationId, new FailingPieces());
      }
      pass.progressed();
    }
    for (const [organizationId, pieces] of [...failing]) {
      if (pass.stopping || pass.allowance.isSpent) break;
      failing.delete(organizationId);
      failing.set(organizationId, pieces);
      const context = systemActor(organizationId, newId(), actor);
      const went = await pieces.pass({
        find: (known) => this.find(organizationId, ending, known),
        most: MOST_AT_ONCE,
        work: (ids) => this.endSome(context, ending, told, ids),
        isAway,
        failed: (error) => fails(organizationId, error),
        retries: pass.retries?.(organizationId) ?? true,
        allowance: pass.allowance,
        stopping: () => pass.stopping,
      });
      ended += went.done;
      if (went.ended) {
        failing.delete(organizationId);
        pass.passed?.(organizationId);
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

  /** @param only those; without it any */
  private endSome(
    context: AuditContext,
    ending: Ending,
    told?: PieceEnded,
    only?: readonly string[],
  ): Promise<number> {
    const { organizationId } = context;
    return this.database.acrossOrganizations(async (tx) => {
      const rows = await this.rowsOf(tx, organizationId, ending, only ? { only } : { but: [] });
      for (const { id, user_id: userId, reason } of rows)
        await this.endings.endAll(tx, context, { userId, organizationId, only: id }, reason);
      if (rows.length > 0) await told?.(tx, context);
      return rows.length;
    });
  }

  private find(organizationId: string, ending: Ending, but: readonly string[]): Promise<string[]> {
    return this.database.acrossOrganizations(async (tx) => {
      const rows = await this.rowsOf(tx, organizationId, ending, { but });
      return rows.map(({ id }) => id);
    });
  }

  private rowsOf(
    tx: WorkerTransaction,
    organizationId: string,
    ending: Ending,
    { only, but }: { readonly only?: readonly string[]; readonly but?: readonly string[] },
  ): Promise<EndingRow[]> {
    const statement = ofOrganization(ending, only ? 'only' : 'all but');
    return tx.query<EndingRow>(statement, [...this.values(organizationId, ending), only ?? but]);
  }

  private values(organizationId: string, { byTime }: Ending): unknown[] {
    return byTime ? [organizationId, this.clock.now()] : [organizationId];
  }
}
