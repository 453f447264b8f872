import { Injectable } from '@nestjs/common';
import { Clock, Database, isTransient, newId, ranOut } from '@customer-platform/database';
import { FailingTurns, ItemBackoff, LatestTurns, log, WorkerJob } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ArchiveGatherer } from './archive-gatherer.js';
import { CLAIM_MS, ClaimLost, type ArchiveRow } from './archive-row.js';
import { ArchiveWriter } from './archive-writer.js';
import { ArchiveSignal } from './archive.signal.js';

/** Its name in metrics and log lines. */
const JOB = 'subject-archive';
const LOOK_EVERY_MS = 1_000;

/**
 * Tenants take turns, and in a tenant its organizations, a page each; of each the oldest archive that can go on, one at a
 * time. While the person is being erased there is nothing to gather.
 */
const NEXT = `
  WITH oldest AS (
    SELECT DISTINCT ON (organization_id) organization_id, subject_request_id FROM subject_archives AS open
     WHERE step <> 'ready' AND claimed_until <= $1 AND subject_request_id <> ALL($2::uuid[])
       AND organization_id <> ALL($3::uuid[])
       AND organization_id NOT IN (SELECT organization_id FROM subject_archives
                                    WHERE step <> 'ready' AND claimed_until > $1)
       AND NOT EXISTS (SELECT FROM contact_erasures AS erasure
                        WHERE erasure.organization_id = open.organization_id
                          AND erasure.contact_id = ANY(open.contact_ids) AND erasure.step <> 'done')
     ORDER BY organization_id, created_at, subject_request_id
  )
  SELECT organization_id, subject_request_id, coalesce(tenant_id, organization_id) AS tenant FROM subject_archives AS turn
   WHERE step <> 'ready' AND claimed_until <= $1
     AND (organization_id, subject_request_id) IN (SELECT organization_id, subject_request_id FROM oldest)
   ORDER BY array_position($4::uuid[], coalesce(tenant_id, organization_id)) NULLS FIRST,
            array_position($5::uuid[], organization_id) NULLS FIRST, moved_at
   LIMIT 1 FOR UPDATE OF turn SKIP LOCKED`;

const CLAIM = `
  UPDATE subject_archives SET claim = $3, claimed_until = $4
   WHERE organization_id = $1 AND subject_request_id = $2
  RETURNING organization_id, subject_request_id, contact_ids, portable, locale, correlation_id, step, module,
            after, pieces, key_sealed, claim`;

const RELEASE = `
  UPDATE subject_archives SET claim = NULL, claimed_until = $4
   WHERE organization_id = $1 AND subject_request_id = $2 AND claim = $3`;

interface Turn extends Pick<ArchiveRow, 'organization_id' | 'subject_request_id'> {
  readonly tenant: string;
}

/**
 * Makes archives: gathers page by page, then writes the file. A claim holds each for a minute, and is kept up while it
 * is worked on; after a kill another goes on at the page, or begins the file anew. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class ArchiveRunner extends WorkerJob {
  private readonly backoff: ItemBackoff;
  private readonly failing = new FailingTurns();
  private readonly latest = new LatestTurns();

  constructor(
    private readonly database: Database,
    private readonly gatherer: ArchiveGatherer,
    private readonly writer: ArchiveWriter,
    signal: ArchiveSignal,
    private readonly clock: Clock,
  ) {
    super({ name: JOB, takes: 'rows of subject_archives', everyMs: LOOK_EVERY_MS, wokenBy: signal });
    this.backoff = new ItemBackoff(JOB, clock);
  }

  protected override pass(): Promise<boolean> {
    return this.runAll();
  }

  /** Does all that can be done now. */
  async runAll(): Promise<boolean> {
    return this.job.drain(() => this.runNext());
  }

  /** Whether there was one. One that fails, be it at its claim, is left for a while, and the next is taken. */
  private async runNext(): Promise<boolean> {
    let turn: Turn | undefined;
    let archive: ArchiveRow | undefined;
    const work = async (): Promise<void> => {
      archive = await this.claim((next) => (turn = next));
      this.job.progressed();
      if (archive?.step === 'gather') await this.gatherer.takePage(archive);
      else if (archive) await this.writer.write(archive, this.job.signal);
    };
    try {
      await this.failing.note(() => turn?.organization_id, work);
      if (turn) this.backoff.passed(turn.subject_request_id);
    } catch (error) {
      if (error instanceof ClaimLost) return true;
      if (archive) await this.release(archive);
      if (this.job.stopping) return false;
      if (turn) this.backoff.failed(turn.subject_request_id, error);
      if (!turn || (!(error instanceof Problem) && isTransient(error) && !ranOut(error))) throw error;
    }
    return turn !== undefined;
  }

  private taken(turn: Turn | undefined): void {
    if (turn) this.latest.had({ tenant: turn.tenant, organizationId: turn.organization_id });
    else this.latest.forget();
  }

  /** @param found hears whose turn it is, before anything of it is changed */
  private async claim(found: (turn: Turn | undefined) => void): Promise<ArchiveRow | undefined> {
    const now = this.clock.now();
    const until = new Date(now.getTime() + CLAIM_MS);
    const waiting = this.backoff.waiting();
    const resting = this.failing.resting();
    return this.database.acrossOrganizations(async (tx) => {
      const next = async (after: readonly string[]): Promise<Turn | undefined> =>
        (
          await tx.query<Turn>(NEXT, [now, waiting, after, this.latest.tenants, this.latest.organizations])
        )[0];
      const turn = (await next(resting)) ?? (resting.length > 0 ? await next([]) : undefined);
      this.taken(turn);
      found(turn);
      if (!turn) return undefined;
      const key = [turn.organization_id, turn.subject_request_id];
      return (await tx.query<ArchiveRow>(CLAIM, [...key, newId(), until]))[0];
    });
  }

  private async release(archive: ArchiveRow): Promise<void> {
    const { organization_id: organizationId, subject_request_id: requestId, claim } = archive;
    try {
      await this.database.inOrganization({ organizationId }, (tx) =>
        tx.query(RELEASE, [organizationId, requestId, claim, this.clock.now()]),
      );
    } catch (error) {
      // It ends by itself.
      log.warn({ err: error, request: requestId }, 'The claim of an archive that failed stays for its time');
    }
  }
}
