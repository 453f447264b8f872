import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';

/** Rows written on `origin` belong to the contact `to` now. */
interface ContactMove {
  readonly origin: string;
  readonly to: string;
}

/** A table whose rows belong to contacts, and go where these go (crm.md §1, §5; loyalty.md §5). */
export interface ContactRows {
  /** As an erasure counts its rows. */
  readonly resource: string;
  /**
   * The contacts on which the rows that concern these were written: those that they have, and those written on them. What
   * a move or an erasure locks of rows that are shared is locked here, in one order.
   */
  origins(tx: Transaction, contactIds: readonly string[]): Promise<string[]>;
  /** Gives the rows that concern these contacts to whom they belong after a merge or its undo. */
  move(tx: Transaction, contactIds: readonly string[], moves: readonly ContactMove[]): Promise<void>;
  /** Removes the rows of contacts that are gone, soft-deleted too. Without it they stay until they are erased. */
  remove?(tx: Transaction, contactIds: readonly string[]): Promise<void>;
  /**
   * Removes the rows that were written on these contacts, who are erased, whomever they belong to by what is known of
   * merges: news of a merge, or of its undo, may come after the erasure. @returns how many people saw
   */
  erase(tx: Transaction, origins: readonly string[]): Promise<number>;
}

/** What has become of rows that are settled in pieces. */
export interface Settled {
  /** Rows of contacts that are gone which went, or were cleared. */
  readonly removed: number;
  /** Otherwise what is left is remembered, and done later. */
  readonly isDone: boolean;
}

/**
 * A table of which a contact may have more rows than one transaction should touch. Where its rows belong follows from
 * what is known of contacts at the time, so that a piece that comes late does what is right by then.
 */
export interface SettledRows {
  /** As an erasure counts its rows. */
  readonly resource: string;
  /** Gives the rows of these contacts, and of those merged into them, to whom they belong, or removes them: a first piece. */
  settle(tx: Transaction, contactIds: readonly string[]): Promise<Settled>;
}

/** The tables of a module whose rows belong to contacts. A feature adds its own when it is made. */
@Injectable()
export class ContactRowsRegistry {
  private readonly tables: ContactRows[] = [];
  private readonly settled: SettledRows[] = [];

  add(rows: ContactRows): void {
    this.tables.push(rows);
  }

  all(): readonly ContactRows[] {
    return this.tables;
  }

  addSettled(rows: SettledRows): void {
    this.settled.push(rows);
  }

  allSettled(): readonly SettledRows[] {
    return this.settled;
  }
}

/**
 * Whether a row was written on one of these contacts. Most rows stand where they were written, so that only those that do
 * not need an index by origin, `WHERE contact_id <> origin_contact_id`.
 */
export function writtenOn(contactIds: string): string {
  const of = `ANY(${contactIds}::uuid[])`;
  return `(contact_id = ${of} AND contact_id = origin_contact_id
    OR origin_contact_id = ${of} AND contact_id <> origin_contact_id)`;
}

/** Whether a row belongs to one of these contacts, or was written on one. */
export function concerns(contactIds: string): string {
  const of = `ANY(${contactIds}::uuid[])`;
  return `(contact_id = ${of} OR origin_contact_id = ${of} AND contact_id <> origin_contact_id)`;
}

/**
 * The rows of a table with the columns `contact_id` and `origin_contact_id`. `table` is trusted.
 * @param shown whether the rows are answered by themselves: then a move sets their `updated_at`, for another state has
 * another ETag
 */
export function contactTable(table: string, { shown = false } = {}): Required<ContactRows> {
  const touch = shown
    ? `, updated_at = greatest(clock_timestamp()::timestamptz(3), ${table}.updated_at + interval '1 millisecond')`
    : '';
  return {
    resource: table,
    origins: async (tx, contactIds) => {
      const rows = await tx.query<{ origin: string }>(
        `SELECT DISTINCT origin_contact_id AS origin FROM ${table}
         WHERE organization_id = $1 AND ${concerns('$2')}`,
        [tx.organizationId, contactIds],
      );
      return rows.map(({ origin }) => origin);
    },
    move: async (tx, contactIds, moves) => {
      await tx.query(
        `UPDATE ${table} SET contact_id = given.to_id${touch}
           FROM unnest($3::uuid[], $4::uuid[]) AS given (origin, to_id)
          WHERE organization_id = $1 AND ${concerns('$2')}
            AND origin_contact_id = given.origin AND contact_id <> given.to_id`,
        [tx.organizationId, contactIds, moves.map(({ origin }) => origin), moves.map(({ to }) => to)],
      );
    },
    remove: async (tx, contactIds) => {
      await tx.query(`DELETE FROM ${table} WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])`, [
        tx.organizationId,
        contactIds,
      ]);
    },
    erase: async (tx, origins) => {
      const rows = await tx.query(
        `DELETE FROM ${table} WHERE organization_id = $1 AND ${writtenOn('$2')} RETURNING 1`,
        [tx.organizationId, origins],
      );
      return rows.length;
    },
  };
}
