import type { Database, Transaction } from '@customer-platform/database';
import { tenantOf, type PlaceOwner } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** Imports that have not ended, and the contents of their files together. */
interface WaitingBounds {
  readonly imports: number;
  readonly bytes: number;
}

const GIB = 1024 ** 3;
const OF_ORGANIZATION: WaitingBounds = { imports: 10, bytes: 2 * GIB };
/** Of the organization below the root with all beneath it: founding further ones fills no disk. */
const OF_TENANT: WaitingBounds = { imports: 30, bytes: 6 * GIB };

const WAITING = `
  SELECT count(*)::int AS count, coalesce(sum(file_bytes), 0)::text AS bytes FROM imports
   WHERE organization_id = $1 AND state IN ('queued', 'running')`;

const WAITING_OF_TENANT = `
  SELECT count(*)::int AS count, coalesce(sum(file_bytes), 0)::text AS bytes FROM imports
   WHERE tenant_id = $1 AND state IN ('queued', 'running')`;

/** Imports of one organization are opened one after another. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('limit:imports:' || $1::text, 0))`;

/**
 * How many bytes the file of a further import may have. Of the tenant's the answer is as old as the upload is long: those
 * that are taken at once, a few on an instance, may be beyond it together.
 * @throws Problem `limit_reached` where there may be no further one
 */
export async function roomOfImports(database: Database, owner: PlaceOwner): Promise<number> {
  const own = await database.inOrganization(owner, roomOfOrganization);
  const rows = await database.acrossOrganizations((tx) =>
    tx.query<WaitingRow>(WAITING_OF_TENANT, [tenantOf(owner)]),
  );
  return Math.min(own, roomLeft(rows, OF_TENANT));
}

/**
 * Refuses what is one too many of an organization, however many are opened at once.
 * @throws Problem `limit_reached`
 */
export async function demandRoom(tx: Transaction, bytes: number): Promise<void> {
  await tx.query(LOCK, [tx.organizationId]);
  if (bytes > (await roomOfOrganization(tx))) throw noRoom();
}

async function roomOfOrganization(tx: Transaction): Promise<number> {
  return roomLeft(await tx.query<WaitingRow>(WAITING, [tx.organizationId]), OF_ORGANIZATION);
}

interface WaitingRow {
  readonly count: number;
  readonly bytes: string;
}

function roomLeft([row]: readonly WaitingRow[], { imports, bytes }: WaitingBounds): number {
  if ((row?.count ?? 0) >= imports) {
    throw new Problem('limit_reached', {
      detail: `At most ${String(imports)} imports can wait for their end.`,
      members: { limit: imports },
    });
  }
  const left = bytes - Number(row?.bytes ?? 0);
  if (left <= 0) throw noRoom();
  return left;
}

/** The file is larger than what may still be added. */
export function noRoom(): Problem {
  return new Problem('limit_reached', {
    detail:
      'The files of imports that wait for their end have at most 2 GiB together, and 6 GiB with those of all organizations of the tenant.',
    members: { limit: OF_ORGANIZATION.bytes },
  });
}
