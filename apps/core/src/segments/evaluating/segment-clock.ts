import { newId, type Transaction } from '@customer-platform/database';

/** Clocks of instances differ by so much: within it time stands still for segments, and runs on once it is reached. */
export const CLOCK_TOLERANCE_MS = 5_000;

const REACHED = 'SELECT reached_at FROM segment_clocks WHERE organization_id = $1';

const REACH = `
  INSERT INTO segment_clocks (organization_id, reached_at) VALUES ($1, $2)
  ON CONFLICT (organization_id) DO UPDATE SET reached_at = excluded.reached_at`;

/** All segments anew, for what time has moved must be moved back; one that is being gone through begins again. */
const BEGIN_ANEW = `
  INSERT INTO segment_builds AS build (organization_id, segment_id, cause, correlation_id, phase)
  SELECT $1, id, 'time', $2, 'contacts' FROM segments WHERE organization_id = $1 AND deleted_at IS NULL
   ORDER BY id
  ON CONFLICT (organization_id, segment_id) DO UPDATE SET cursor_id = NULL`;

/**
 * The instant at which the transaction evaluates its organization, and the note of it. Membership is a question of
 * the clock, and a clock may be set back: by little, as those of two instances differ, the instant stays what it was;
 * by more, all that time has moved is evaluated anew. The caller is the only one to evaluate the organization.
 */
export async function evaluationTime(tx: Transaction, clock: Date): Promise<Date> {
  const [row] = await tx.query<{ reached_at: Date }>(REACHED, [tx.organizationId]);
  const reached = row?.reached_at;
  if (reached && reached > clock) {
    if (reached.getTime() - clock.getTime() <= CLOCK_TOLERANCE_MS) return reached;
    await tx.query(BEGIN_ANEW, [tx.organizationId, newId()]);
  }
  if (reached?.getTime() !== clock.getTime()) await tx.query(REACH, [tx.organizationId, clock]);
  return clock;
}
