import { InternalClient } from '@customer-platform/authorization';
import type { ItemBackoff } from '@customer-platform/http';
import type { Database } from '../database.js';
import { isTransient, ranOut } from '../errors.js';
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

const KNOWN = `
  SELECT DISTINCT organization_id AS id FROM retention_periods WHERE kind = ANY($1::text[]) AND wanted_days IS NOT NULL`;

/** Of whom nothing is said any more all is kept, at once. */
const FORGET = `
  UPDATE retention_periods AS known SET wanted_days = NULL, days = NULL, wanted_since = $4
   WHERE kind = ANY($3::text[]) AND wanted_days IS NOT NULL AND organization_id = ANY($5::uuid[])
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
    private readonly backoff: ItemBackoff,
  ) {}

  /**
   * Notes what identity says. An organization whose period cannot be noted is left for a while, and found by halves: it
   * keeps no other's from being noted.
   * @returns organizations of which it is not known now for how long things are kept
   * @throws Problem `dependency_unavailable` while identity does not tell all of it: nothing is learnt then
   */
  async learn(now: Date): Promise<Set<string>> {
    const told = await this.ask();
    const known = await this.database.acrossOrganizations((tx) =>
      tx.query<{ id: string }>(KNOWN, [this.kinds]),
    );
    const ids = [
      ...new Set([...known.map(({ id }) => id), ...told.map(({ organizationId }) => organizationId)]),
    ];
    const unknown = new Set(ids.filter((id) => this.backoff.waits(itemOf(id))));
    const due = ids.filter((id) => !unknown.has(id));
    await this.noteApart(told, due, now, unknown);
    return unknown;
  }

  private async noteApart(
    told: readonly WantedPeriod[],
    ids: readonly string[],
    now: Date,
    unknown: Set<string>,
  ): Promise<void> {
    const [first] = ids;
    if (first === undefined) return;
    try {
      await this.note(told, ids, now);
      for (const id of ids) this.backoff.passed(itemOf(id));
    } catch (error) {
      // The others would meet the same. What ran out of time or memory may be one organization's doing, however often.
      if (isTransient(error) && !ranOut(error)) throw error;
      if (ids.length === 1) {
        this.backoff.failed(itemOf(first), error);
        unknown.add(first);
        return;
      }
      const middle = ids.length >> 1;
      await this.noteApart(told, ids.slice(0, middle), now, unknown);
      await this.noteApart(told, ids.slice(middle), now, unknown);
    }
  }

  private async note(told: readonly WantedPeriod[], ids: readonly string[], now: Date): Promise<void> {
    const noted = new Set(ids);
    const some = told.filter(({ organizationId }) => noted.has(organizationId));
    const organizations = some.map(({ organizationId }) => organizationId);
    const kinds = some.map(({ kind }) => kind);
    const days = some.map((each) => each.days);
    await this.database.acrossOrganizations(async (tx) => {
      await tx.query(LEARN, [organizations, kinds, days, now, GRACE_MS]);
      await tx.query(FORGET, [organizations, kinds, this.kinds, now, ids]);
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

function itemOf(organizationId: string): string {
  return `period of ${organizationId}`;
}
