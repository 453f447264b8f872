import { Injectable } from '@nestjs/common';
import { contactKey, type ContactId } from '@customer-platform/contact-refs';
import type { Transaction } from '@customer-platform/database';
import type { Channel } from '../../vocabulary/addresses/channel.js';

/** What a person has said about marketing on a channel. */
export type ConsentStatus = 'granted' | 'denied' | 'withdrawn' | 'expired';

/** One state of a consent as core tells it; without a channel it holds for all. */
interface ConsentState extends ContactId {
  readonly purpose: string;
  readonly channel: string | null;
  readonly status: ConsentStatus;
  readonly occurredAt: Date;
}

interface Row {
  organization_id: string;
  contact_id: string;
  channel: string;
  status: ConsentStatus;
  occurred_at: Date;
}

/** At the same instant the strictest holds (core.md §5). */
const STRICTNESS: readonly ConsentStatus[] = ['granted', 'expired', 'denied', 'withdrawn'];

const ORDER = `'{${STRICTNESS.join(',')}}'::text[]`;

const UPSERT = `
  INSERT INTO consents AS known (organization_id, contact_id, purpose, channel, status, occurred_at)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
  ON CONFLICT (organization_id, contact_id, purpose, channel) DO UPDATE
    SET status = excluded.status, occurred_at = excluded.occurred_at
  WHERE known.occurred_at < excluded.occurred_at
     OR known.occurred_at = excluded.occurred_at AND
        array_position(${ORDER}, known.status) <= array_position(${ORDER}, excluded.status)`;

/** The table `consents`: what core has told of people's wishes. */
@Injectable()
export class ConsentsRepository {
  /** Writes the newest state of each (contact, purpose, channel), whatever was written or is told first. */
  async save(tx: Transaction, states: readonly ConsentState[]): Promise<void> {
    const newest = new Map<string, ConsentState>();
    for (const state of states) {
      const key = [contactKey(state), state.purpose, state.channel ?? ''].join(' ');
      const known = newest.get(key);
      if (!known || isStronger(state, known)) newest.set(key, state);
    }
    const rows = [...newest.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, state]) => state);
    if (rows.length === 0) return;
    await tx.query(UPSERT, [
      rows.map(({ organizationId }) => organizationId),
      rows.map(({ id }) => id),
      rows.map(({ purpose }) => purpose),
      rows.map(({ channel }) => channel ?? ''),
      rows.map(({ status }) => status),
      rows.map(({ occurredAt }) => occurredAt),
    ]);
  }

  /** What holds for marketing on one channel: the latest of its own and the all-channel states; by {@link contactKey}. */
  async marketing(
    tx: Transaction,
    refs: readonly ContactId[],
    channels: readonly Channel[],
  ): Promise<(ref: ContactId, channel: Channel) => ConsentStatus | undefined> {
    const rows = refs.length === 0 ? [] : await this.rowsOf(tx, refs, channels);
    return (ref, channel) =>
      rows
        .filter(
          (row) =>
            contactKey({ organizationId: row.organization_id, id: row.contact_id }) === contactKey(ref),
        )
        .filter((row) => row.channel === '' || row.channel === channel)
        .sort(byForce)
        .at(-1)?.status;
  }

  private rowsOf(tx: Transaction, refs: readonly ContactId[], channels: readonly Channel[]): Promise<Row[]> {
    return tx.query<Row>(
      `SELECT organization_id, contact_id, channel, status, occurred_at FROM consents
       WHERE (organization_id, contact_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
         AND purpose = 'marketing' AND channel = ANY($3)`,
      [refs.map(({ organizationId }) => organizationId), refs.map(({ id }) => id), ['', ...channels]],
    );
  }
}

function isStronger(one: ConsentState, other: ConsentState): boolean {
  const time = one.occurredAt.getTime() - other.occurredAt.getTime();
  return time > 0 || (time === 0 && STRICTNESS.indexOf(one.status) >= STRICTNESS.indexOf(other.status));
}

function byForce(a: Row, b: Row): number {
  const time = a.occurred_at.getTime() - b.occurred_at.getTime();
  return time === 0 ? STRICTNESS.indexOf(a.status) - STRICTNESS.indexOf(b.status) : time;
}
