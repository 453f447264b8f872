import { Injectable } from '@nestjs/common';
import { Database, type Transaction, uuids } from '@customer-platform/database';
import { lockRefs } from './subjects.js';

/** Each ref that has lines is a subject or a tombstone; what balances and lots name beside them should not be there. */
const REFS = `
  SELECT subject_ref FROM subjects WHERE organization_id = $1 AND subject_ref > $2
  UNION SELECT subject_ref FROM tombstones WHERE organization_id = $1 AND subject_ref > $2
  UNION SELECT subject_ref FROM balances WHERE organization_id = $1 AND subject_ref > $2
  UNION SELECT subject_ref FROM lot_balances WHERE organization_id = $1 AND subject_ref > $2
  ORDER BY subject_ref LIMIT $3`;

/** So that there is a row to lock. */
const OPEN = `
  INSERT INTO balances (organization_id, subject_ref, points)
  SELECT $1, unnest($2::uuid[]), 0 ON CONFLICT DO NOTHING`;

const BALANCES = `
  UPDATE balances SET points = summed.points
    FROM unnest($2::uuid[]) AS given (subject_ref)
   CROSS JOIN LATERAL (
     SELECT coalesce(sum(points), 0) AS points FROM lines
      WHERE organization_id = $1 AND subject_ref = given.subject_ref) AS summed
   WHERE balances.organization_id = $1 AND balances.subject_ref = given.subject_ref
     AND balances.points <> summed.points
  RETURNING balances.subject_ref`;

const STRAY_LOTS = `
  DELETE FROM lot_balances lot
   WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[])
     AND NOT EXISTS (SELECT FROM lines
                      WHERE lines.organization_id = $1 AND lines.subject_ref = lot.subject_ref AND lines.lot_id = lot.lot_id)
  RETURNING lot_id`;

const LOTS = `
  INSERT INTO lot_balances AS lot (organization_id, subject_ref, lot_id, remaining, expires_at, created_at)
  SELECT $1, summed.subject_ref, summed.lot_id, summed.points, opener.expires_at, opener.created_at
    FROM (SELECT subject_ref, lot_id, sum(points) AS points FROM lines
           WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[]) GROUP BY subject_ref, lot_id) AS summed
   CROSS JOIN LATERAL (
     SELECT expires_at, created_at FROM transactions
      WHERE organization_id = $1 AND id = summed.lot_id OFFSET 0) AS opener
  ON CONFLICT (organization_id, subject_ref, lot_id) DO UPDATE
    SET remaining = excluded.remaining, expires_at = excluded.expires_at, created_at = excluded.created_at
    WHERE (lot.remaining, lot.expires_at, lot.created_at)
          IS DISTINCT FROM (excluded.remaining, excluded.expires_at, excluded.created_at)
  RETURNING lot_id`;

/** Of refs that have a contact: for others no rule gives anything. */
const EARNED = `
  INSERT INTO earned_points AS kept (organization_id, rule_id, subject_ref, points)
  SELECT $1, earned.rule_id, given.subject_ref, sum(earned.points + coalesce(reversal.points, 0))
    FROM unnest($2::uuid[]) AS given (subject_ref)
    JOIN links link ON link.organization_id = $1 AND link.subject_ref = given.subject_ref
   CROSS JOIN LATERAL (
     SELECT rule_id, points FROM transactions
      WHERE organization_id = $1 AND id = link.transaction_id AND kind = 'earn' OFFSET 0) AS earned
    LEFT JOIN LATERAL (
     SELECT points FROM transactions
      WHERE organization_id = $1 AND reverses_id = link.transaction_id OFFSET 0) AS reversal ON true
   GROUP BY earned.rule_id, given.subject_ref
  ON CONFLICT (organization_id, rule_id, subject_ref) DO UPDATE SET points = excluded.points
    WHERE kept.points <> excluded.points
  RETURNING rule_id`;

/** Lots are in the open to work that crosses organizations; whoever has transactions has lots. */
const ORGANIZATIONS = 'SELECT DISTINCT organization_id FROM lot_balances ORDER BY organization_id';

const REFS_AT_ONCE = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** How many sums of an organization were not those of its lines, and are now. */
interface RebuiltSums {
  organization_id: string;
  balances: number;
  lots: number;
  /** Of rules and refs. */
  earned: number;
}

/**
 * Makes balances, lots and what rules gave anew from the ledger's lines (loyalty.md §3: derived, rebuilt at will), while the service
 * runs: a few hundred subjects at a time, under the locks that whoever posts takes.
 */
@Injectable()
export class SumsRebuild {
  constructor(private readonly database: Database) {}

  /** Of one organization, or of all that have lots; repeatable, and what is right is not written. */
  async run(only?: string): Promise<RebuiltSums[]> {
    const organizations = only === undefined ? await this.organizations() : [only];
    const rebuilt: RebuiltSums[] = [];
    for (const organizationId of organizations) rebuilt.push(await this.ofOrganization(organizationId));
    return rebuilt;
  }

  private async organizations(): Promise<string[]> {
    const rows = await this.database.acrossOrganizations((tx) =>
      tx.query<{ organization_id: string }>(ORGANIZATIONS),
    );
    return rows.map((row) => row.organization_id);
  }

  private async ofOrganization(organizationId: string): Promise<RebuiltSums> {
    const sums: RebuiltSums = { organization_id: organizationId, balances: 0, lots: 0, earned: 0 };
    for (let after: string | undefined = BEFORE_ALL; after !== undefined;) {
      const from: string = after;
      // Counted after the commit: a transaction that loses to another begins anew.
      const page = await this.database.inOrganization({ organizationId }, (tx) => rebuildPage(tx, from));
      sums.balances += page.balances;
      sums.lots += page.lots;
      sums.earned += page.earned;
      after = page.last;
    }
    return sums;
  }
}

/** Rebuilds the sums of the refs that follow; `last` is the last of them, undefined after the last page. */
async function rebuildPage(tx: Transaction, after: string) {
  const rows = await tx.query<{ subject_ref: string }>(REFS, [tx.organizationId, after, REFS_AT_ONCE]);
  const refs = rows.map((row) => row.subject_ref);
  if (refs.length === 0) return { last: undefined, balances: 0, lots: 0, earned: 0 };
  const given = [tx.organizationId, uuids(refs)];
  await tx.query(OPEN, given);
  await lockRefs(tx, refs);
  // In statements of their own, which see all that was posted before the locks were had.
  const balances = (await tx.query(BALANCES, given)).length;
  const strays = (await tx.query(STRAY_LOTS, given)).length;
  const lots = (await tx.query(LOTS, given)).length;
  const earned = (await tx.query(EARNED, given)).length;
  return { last: refs.at(-1), balances, lots: strays + lots, earned };
}
