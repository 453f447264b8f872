import { InternalClient } from '@customer-platform/authorization';
import type { Database } from '../database.js';
import type { RetentionDays, RetentionKind, RetentionPage } from './retention-kinds.js';

const ASK_TIMEOUT_MS = 5_000;

/** A period that is new or shorter waits so long: whoever mistyped it has a day to say something else. */
const GRACE_MS = 86_400_000;

/**
 * A longer period counts at once. A shorter one counts once it has stood for a day; until then what was in force before
 * stays in force, and where nothing was nothing is. Rows that stay as they are are not touched, and so not waited for. A
 * clock that is ahead of the database's counts for nothing.
 */
const LEARN = `
  INSERT INTO retention_periods AS known (organization_id, kind, wanted_days, wanted_since)
  SELECT told.organization_id, told.kind, told.days, least($4::timestamptz, now())
    FROM unnest($1::uuid[], $2::text[], $3::int[]) AS told (organization_id, kind, days)
    LEFT JOIN retention_periods AS held USING (organization_id, kind)
   WHERE held.organization_id IS NULL OR held.wanted_days IS DISTINCT FROM told.days
      OR (held.days IS DISTINCT FROM told.days AND held.wanted_since <= least($4, now()) - $5 * interval '1 ms')
   ORDER BY organization_id, kind
  ON CONFLICT (organization_id, kind) DO UPDATE
    SET days = CASE
          WHEN excluded.wanted_days >= known.days THEN excluded.wanted_days
          WHEN excluded.wanted_days = known.wanted_days AND known.wanted_since <= least($4, now()) - $5 * interval '1 ms'
            THEN excluded.wanted_days
          ELSE known.days END,
        wanted_since = CASE
          WHEN excluded.wanted_days IS DISTINCT FROM known.wanted_days THEN excluded.wanted_since
          ELSE known.wanted_since END,
        wanted_days = excluded.wanted_days`;

/** Of whom nothing is said any more all is kept, at once. */
const FORGET = `
  UPDATE retention_periods AS known SET wanted_days = NULL, days = NULL, wanted_since = $4
   WHERE kind = ANY($3::text[]) AND wanted_days IS NOT NULL
     AND NOT EXISTS (SELECT FROM unnest($1::uuid[], $2::text[]) AS told (organization_id, kind)
                      WHERE told.organization_id = known.organization_id AND told.kind = known.kind)`;

interface WantedPeriod {
  readonly organizationId: string;
  readonly kind: RetentionKind;
  readonly days: number;
}

/** Learns from identity for how long organizations want things kept. */
export class RetentionPeriods {
  constructor(
    private readonly database: Database,
    private readonly client: InternalClient,
    private readonly kinds: readonly RetentionKind[],
  ) {}

  /** @throws Problem `dependency_unavailable` while identity does not tell all of it: nothing is learnt then */
  async learn(now: Date): Promise<void> {
    const told = await this.ask();
    const ids = told.map(({ organizationId }) => organizationId);
    const kinds = told.map(({ kind }) => kind);
    const days = told.map((each) => each.days);
    await this.database.acrossOrganizations(async (tx) => {
      await tx.query(LEARN, [ids, kinds, days, now, GRACE_MS]);
      await tx.query(FORGET, [ids, kinds, this.kinds, now]);
    });
  }

  private async ask(): Promise<WantedPeriod[]> {
    const told: WantedPeriod[] = [];
    for (let after: string | null = ''; after !== null;) {
      const path: string = `/internal/retention${after === '' ? '' : `?after=${after}`}`;
      const page: RetentionPage = await this.client.call<RetentionPage>('identity', {
        method: 'GET',
        path,
        timeoutMs: ASK_TIMEOUT_MS,
        lane: 'retention',
      });
      for (const { organization_id: organizationId, retention } of page.organizations)
        told.push(...this.ofOne(organizationId, retention));
      after = page.next;
    }
    return told;
  }

  private ofOne(organizationId: string, retention: RetentionDays): WantedPeriod[] {
    return this.kinds.flatMap((kind) => {
      const days = retention[`${kind}_days`];
      // What is no number of days removes nothing.
      return typeof days === 'number' && Number.isSafeInteger(days) && days >= 1
        ? { organizationId, kind, days }
        : [];
    });
  }
}
