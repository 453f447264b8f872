import { Injectable } from '@nestjs/common';
import type { WorkerTransaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';

const TAKE_TURNS = `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`;

const ADMINISTRATED = `
SELECT EXISTS (
  SELECT FROM memberships m
    JOIN users u ON u.id = m.user_id AND u.status = 'active' AND u.deleted_at IS NULL
    JOIN role_assignments a ON a.organization_id = m.organization_id AND a.membership_id = m.id
    JOIN roles r ON r.organization_id = a.organization_id AND r.id = a.role_id
   WHERE m.organization_id = $1 AND r.key = 'owner') AS administrated`;

/** Keeps an administrator, an active user assigned `owner`, in each organization that has one. */
@Injectable()
export class Administrators {
  /**
   * Takes something away that may have made somebody an administrator. Such changes take turns, so that of the last two
   * only one can go.
   * @throws Problem `last_administrator`
   */
  async keepingOne<T>(tx: WorkerTransaction, organizationId: string, work: () => Promise<T>): Promise<T> {
    await tx.query(TAKE_TURNS, [`administrators:${organizationId}`]);
    const before = await isAdministrated(tx, organizationId);
    const result = await work();
    if (before && !(await isAdministrated(tx, organizationId))) {
      throw new Problem('last_administrator', {
        detail: 'The organization would be left without an active user who is assigned the role owner.',
      });
    }
    return result;
  }
}

async function isAdministrated(tx: WorkerTransaction, organizationId: string): Promise<boolean> {
  const [row] = await tx.query<{ administrated: boolean }>(ADMINISTRATED, [organizationId]);
  return row?.administrated === true;
}
