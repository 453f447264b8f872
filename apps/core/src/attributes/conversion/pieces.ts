import type { Transaction } from '@customer-platform/database';

/** All contacts: those that were merged or soft-deleted may come back. */
const PIECE = `
  SELECT id, attributes -> $3::text AS value, jsonb_exists(attributes, $3::text) AS present
    FROM contacts WHERE organization_id = $1 AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $4`;

/** Some contacts in the order of their ids. */
export interface Piece {
  /** How many were looked at. */
  readonly contacts: number;
  /** The values of those who have one. */
  readonly values: readonly { readonly id: string; readonly value: unknown }[];
  /** After whom the next piece begins; undefined at the end. */
  readonly next: string | undefined;
}

/** The values of an attribute of the contacts after `cursor`. */
export async function readPiece(
  tx: Transaction,
  key: string,
  cursor: string | null,
  size: number,
): Promise<Piece> {
  const rows = await tx.query<{ id: string; value: unknown; present: boolean }>(PIECE, [
    ...[tx.organizationId, cursor, key, size],
  ]);
  return {
    contacts: rows.length,
    values: rows.filter(({ present }) => present),
    next: rows.length < size ? undefined : rows.at(-1)?.id,
  };
}
