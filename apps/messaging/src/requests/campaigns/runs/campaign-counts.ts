import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, Database, OrganizationTurns, type Transaction } from '@customer-platform/database';
import { PollingJob } from '@customer-platform/http';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../../vocabulary/config/messaging.config.js';
import { SEND_STATES } from '../../../vocabulary/sends/send-state.js';
import type { RunCounts } from '../campaign.js';

/** Where the audience of a run stands. */
export interface Counted {
  readonly counts: RunCounts;
  /** Of `skipped`, by why. */
  readonly skipped: Record<string, number>;
}

const SKIPPED = 'skipped/';

/** One statement, so that a fold between two reads cannot be half seen. */
const READ = `
  SELECT run_id, kind, sum(count)::int AS count FROM (
    SELECT run_id, kind, count FROM campaign_counts WHERE organization_id = $1 AND run_id = ANY($2::uuid[])
    UNION ALL
    SELECT run_id, kind, change FROM campaign_count_changes WHERE organization_id = $1 AND run_id = ANY($2::uuid[])
  ) AS counted GROUP BY run_id, kind`;

const FOLD = `
  WITH piece AS (
    SELECT one.id AS organization_id, change.at FROM unnest($1::uuid[]) AS one (id), LATERAL (
      SELECT ctid AS at FROM campaign_count_changes WHERE organization_id = one.id LIMIT $2 FOR UPDATE SKIP LOCKED) AS change
  ), taken AS (
    DELETE FROM campaign_count_changes c USING piece
     WHERE c.organization_id = piece.organization_id AND c.ctid = piece.at
    RETURNING c.organization_id, c.run_id, c.kind, c.change
  ), folded AS (
    INSERT INTO campaign_counts AS c (organization_id, run_id, kind, count)
    SELECT organization_id, run_id, kind, sum(change) FROM taken GROUP BY organization_id, run_id, kind
     ORDER BY organization_id, run_id, kind
    ON CONFLICT (organization_id, run_id, kind) DO UPDATE SET count = c.count + excluded.count
  )
  SELECT count(*)::int AS count FROM taken`;

const JOB = 'campaign-counts';
const EVERY_MS = 1_000;
const AT_ONCE = 5_000;

/**
 * How far runs have come, exact at every instant. Whatever changes a send or a member of an audience leaves the change
 * of the counts beside it, in its own transaction and by a trigger, so that nobody can forget it; they are summed when
 * they are read. A job folds them, so that the sum stays short.
 */
@Injectable()
export class CampaignCounts implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly folding = new PollingJob({
    name: JOB,
    takes: 'rows of campaign_count_changes',
    everyMs: EVERY_MS,
    pass: () => this.foldAll(),
  });

  private readonly turns: OrganizationTurns;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    database: Database,
    clock: Clock,
  ) {
    const queue = { table: 'campaign_count_changes', rowsAtOnce: AT_ONCE };
    this.turns = new OrganizationTurns(database, clock, JOB, queue);
  }

  onApplicationBootstrap(): void {
    if (this.config.worker) this.folding.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.folding.stop();
  }

  /** Of runs of the transaction's organization, by their ids. */
  async of(tx: Transaction, runIds: readonly string[]): Promise<Map<string, Counted>> {
    if (runIds.length === 0) return new Map();
    const rows = await tx.query<{ run_id: string; kind: string; count: number }>(READ, [
      tx.organizationId,
      runIds,
    ]);
    const byRun = Map.groupBy(rows, (row) => row.run_id);
    return new Map(runIds.map((id) => [id, countedOf(byRun.get(id) ?? [])]));
  }

  /** Folds all changes, of organizations in turn. @returns whether there was any */
  async foldAll(): Promise<boolean> {
    return this.folding.drain(
      async () =>
        (await this.turns.round(
          async (tx, ...piece) => {
            const [row] = await tx.query<{ count: number }>(FOLD, piece);
            return row?.count ?? 0;
          },
          () => this.folding.stopping,
        )) > 0,
    );
  }
}

function countedOf(rows: readonly { kind: string; count: number }[]): Counted {
  const skipped = Object.fromEntries(
    rows.flatMap(({ kind, count }) =>
      kind.startsWith(SKIPPED) && count !== 0 ? [[kind.slice(SKIPPED.length), count] as const] : [],
    ),
  );
  const found = new Map(rows.map(({ kind, count }) => [kind, count]));
  const sum = Object.values(skipped).reduce((total, count) => total + count, 0);
  const kinds = ['audience', 'pending', 'skipped', ...SEND_STATES] as const;
  const counts = Object.fromEntries(
    kinds.map((kind) => [kind, kind === 'skipped' ? sum : (found.get(kind) ?? 0)]),
  ) as RunCounts;
  return { counts, skipped };
}
