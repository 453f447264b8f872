import type { Transaction } from '@customer-platform/database';

/** Contacts of one step; each may have attributes of 64 KiB. */
const CONTACTS_AT_ONCE = 100;

/** All contacts: those that were merged or soft-deleted may come back. */
const PIECE = `
  SELECT id, attributes -> $3::text AS value, jsonb_exists(attributes, $3::text) AS present
    FROM contacts WHERE organization_id = $1 AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $4`;

const HOLDERS = `
  SELECT id, jsonb_exists(attributes, $3::text) AS present
    FROM contacts WHERE organization_id = $1 AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $4`;

interface PieceRow {
  id: string;
  present: boolean;
}

/** Some contacts in the order of their ids. */
export interface Piece<T = ContactValue> {
  /** How many were looked at. */
  readonly contacts: number;
  /** Those of them who have a value. */
  readonly holders: readonly T[];
  /** After whom the next piece begins; undefined at the end. */
  readonly next: string | undefined;
}

/** Who has a value, and which. */
export interface ContactValue {
  readonly id: string;
  readonly value: unknown;
}

/** The values of an attribute of the contacts after `cursor`. */
export function readPiece(tx: Transaction, key: string, cursor: string | null): Promise<Piece> {
  return read<PieceRow & ContactValue>(tx, PIECE, key, cursor);
}

/** As {@link readPiece}, without the values: who changes them reads them under a lock. */
export function readHolders(
  tx: Transaction,
  key: string,
  cursor: string | null,
): Promise<Piece<{ readonly id: string }>> {
  return read<PieceRow>(tx, HOLDERS, key, cursor);
}

async function read<Row extends PieceRow>(
  tx: Transaction,
  statement: string,
  key: string,
  cursor: string | null,
): Promise<Piece<Row>> {
  const rows = await tx.query<Row>(statement, [tx.organizationId, cursor, key, CONTACTS_AT_ONCE]);
  return {
    contacts: rows.length,
    holders: rows.filter(({ present }) => present),
    next: rows.length < CONTACTS_AT_ONCE ? undefined : rows.at(-1)?.id,
  };
}
