import { Injectable } from '@nestjs/common';
import { systemActor, type AuditContext } from '@customer-platform/audit';
import { Clock, Database, isAway, newId, type WorkerTransaction } from '@customer-platform/database';
import { FailingPieces, TurnLine, type FailureAllowance } from '@customer-platform/http';
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

/** The organizations that have any, each with its tenant. */
const organizationsWith = ({ table, where }: Ending): string => `
SELECT own.organization_id AS id, coalesce(owner.path[2], owner.path[1], own.organization_id) AS tenant
  FROM (SELECT DISTINCT s.organization_id FROM ${table} s WHERE s.organization_id > $1 AND ${where}) AS own
  LEFT JOIN organizations AS owner USING (organization_id)
 ORDER BY own.organization_id`;

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

  /**
   * Ends the others beside those that fail, of any organization: tenants take turns, and in a tenant its organizations.
   * @throws what failed first
   */
  async endAll(ending: Ending, actor: string, pass: Pass, told?: PieceEnded): Promise<number> {
    const failing = this.failing.get(ending) ?? new Map<string, FailingPieces<string>>();
    this.failing.set(ending, failing);
    const failures: unknown[] = [];
    const fails = (organizationId: string, error: unknown): void => {
      if (pass.failed) pass.failed(organizationId, error);
      else failures.push(error);
    };
    let ended = 0;
    const tenants = new Map<string, string>();
    const line = new TurnLine({ whoseTurn: (id) => tenants.get(id) });
    const read = async (): Promise<string[]> => {
      const owners = await this.organizationsWith(ending);
      for (const { id, tenant } of owners) tenants.set(id, tenant);
      return owners.map(({ id }) => id).filter((id) => !failing.has(id));
    };
    // Each has one piece after the other until none of its own is left.
    const piece = async (organizationId: string, failed: () => void): Promise<boolean> => {
      const context = systemActor(organizationId, newId(), actor);
      let went = 0;
      try {
        went = await this.endSome(context, ending, told);
        ended += went;
        if (went < MOST_AT_ONCE) pass.passed?.(organizationId);
      } catch (error) {
        failed();
        if (isAway(error)) fails(organizationId, error);
        else failing.set(organizationId, new FailingPieces());
      }
      pass.progressed();
      return went === MOST_AT_ONCE;
    };
    await line.goThrough(read, piece, () => pass.stopping);
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

  private organizationsWith(ending: Ending): Promise<{ id: string; tenant: string }[]> {
    return this.database.acrossOrganizations((tx) =>
      tx.query(organizationsWith(ending), this.values(NOBODY, ending)),
    );
  }

  /**
   * Ends some of an organization in a transaction of its own: an ending locks the organization's epoch until the commit, and
   * whoever holds that of one only can neither deadlock with another pass nor keep one organization waiting for another.
   * @param only those; without it any
   */
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
