import { Injectable } from '@nestjs/common';
import {
  Clock,
  Database,
  isAway,
  type RetentionOptions,
  type Transaction,
} from '@customer-platform/database';
import { FailureAllowance, ItemBackoff, log, WorkerJob } from '@customer-platform/http';
import { EndingsInPieces, type Ending } from './endings-in-pieces.js';
import { SessionEndings } from './session-endings.js';

/** Its name in metrics and log lines. */
const JOB = 'session-sweep';
const EVERY_MS = 60_000;
/** Two that run into their time limit: what others have to end meanwhile waits no longer for the next sweep. */
const FAILURES_MS = 30_000;

/** Sessions are kept for 90 days after their end (identity.md §5). */
export const ENDED_SESSIONS: RetentionOptions = {
  name: 'session-retention',
  table: 'sessions',
  where: 'old.ended_at < $1',
  oldestBy: 'ended_at',
  keptMs: 90 * 86_400_000,
};

const BY_TIME: Ending = {
  table: 'sessions',
  where: 's.ended_at IS NULL AND least(s.idle_expires_at, s.expires_at) <= $2',
  reason: `CASE WHEN s.expires_at <= s.idle_expires_at THEN 'absolute' ELSE 'idle' END`,
  byTime: true,
};

/** Their client is gone, has had another secret since, or serves them no more: they are refused already. */
const WITH_CLIENT: Ending = {
  table: 'sessions',
  where: `s.client_id IS NOT NULL AND s.ended_at IS NULL AND NOT EXISTS (
   SELECT FROM oauth_clients c
    WHERE c.id = s.client_id AND c.generation = s.client_generation AND c.deleted_at IS NULL
      AND (c.organizations = 'tree' OR c.organization_id = s.organization_id))`,
  reason: `'revoked'`,
  byTime: false,
};

const IMPERSONATIONS: Ending = {
  table: 'impersonations',
  where: 's.ended_at IS NULL AND s.expires_at <= $2',
  reason: `'absolute'`,
  byTime: true,
};

/** The name of each where it fails. */
const KINDS = new Map([
  [BY_TIME, 'by time'],
  [WITH_CLIENT, 'with their client'],
  [IMPERSONATIONS, 'impersonations'],
]);

/** Writes down, and tells, that sessions and impersonations have ended by time or with their client. */
@Injectable()
export class SessionSweep extends WorkerJob {
  private readonly inPieces: EndingsInPieces;
  private readonly backoff: ItemBackoff;

  constructor(database: Database, endings: SessionEndings, clock: Clock) {
    super({ name: JOB, takes: 'rows of sessions and impersonations', everyMs: EVERY_MS });
    this.inPieces = new EndingsInPieces(database, endings, clock);
    this.backoff = new ItemBackoff(JOB, clock);
  }

  protected override pass(): Promise<number> {
    return this.run();
  }

  /** How many it has ended. */
  async run(): Promise<number> {
    let ended = 0;
    for (const ending of KINDS.keys()) ended += await this.endAll(ending);
    return ended;
  }

  /** Writes down what the transaction ends for all of a client's sessions, once it is committed. */
  endSoon(tx: Transaction): void {
    tx.afterCommit(() => {
      this.endAll(WITH_CLIENT).catch((error: unknown) => {
        log.warn({ err: error }, 'Sessions of a client that ended are written down by the next sweep');
      });
    });
  }

  /** One that fails holds up neither others nor another kind of ending. @throws an outage */
  private endAll(ending: Ending): Promise<number> {
    const { job } = this;
    const itemOf = (organizationId: string): string => `${KINDS.get(ending) ?? ''} ${organizationId}`;
    return this.inPieces.endAll(ending, JOB, {
      get stopping() {
        return job.stopping;
      },
      allowance: new FailureAllowance(FAILURES_MS),
      progressed: () => job.progressed(),
      retries: (organizationId) => !this.backoff.waits(itemOf(organizationId)),
      passed: (organizationId) => this.backoff.passed(itemOf(organizationId)),
      failed: (organizationId, error) => {
        if (isAway(error)) throw error;
        this.backoff.failed(itemOf(organizationId), error);
      },
    });
  }
}
