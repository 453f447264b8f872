import { newId } from '@customer-platform/database';

const LETTER = `
  INSERT INTO dead_letters (organization_id, id, event_id, type, stage, code, detail, attempts, payload, external_id, state,
                            fingerprint, received_at, first_failed_at, last_failed_at)
  VALUES ($1, $2, $3, $4, 'store', 'internal_error', 'It failed.', 1, $5, $6, 'pending', $7, now(), now(), now())`;

/** Asks core's database as superuser. */
export type CoreQuery = (sql: string, values: unknown[]) => Promise<Record<string, unknown>[]>;

/** Keeps an event as a dead letter of core, an identify if it has traits. @returns the letter's id */
export async function addLetter(
  query: CoreQuery,
  organizationId: string,
  body: unknown,
  externalId: string | null,
): Promise<string> {
  const id = newId();
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const kind = text.includes('"traits"') ? 'identify' : 'track';
  await query(LETTER, [organizationId, id, newId(), kind, Buffer.from(text), externalId, newId()]);
  return id;
}
