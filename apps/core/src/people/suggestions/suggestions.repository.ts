import { Injectable } from '@nestjs/common';
import { newId, type Transaction } from '@customer-platform/database';
import { turns } from '@customer-platform/http';
import { maskSignal, scoreOf, signalOf, type Reason } from './signals.js';
import { withdrawValues, type WithdrawnValue } from './withdrawn-values.js';

/** A value on more live contacts than this is no signal (core.md §4): a reception's telephone, a shop's tablet. */
const CONTACTS_LIMIT = 5;

const CLAIM = `
  INSERT INTO identity_claimants (organization_id, type, normal_value, contact_id) VALUES ($1, $2, $3, $4)
  ON CONFLICT DO NOTHING`;

const CLAIMANTS = `
  SELECT claimed.contact_id FROM identity_claimants claimed
    JOIN contacts contact ON contact.organization_id = claimed.organization_id AND contact.id = claimed.contact_id
   WHERE claimed.organization_id = $1 AND claimed.type = $2 AND claimed.normal_value = $3 AND claimed.contact_id <> $4
     AND contact.deleted_at IS NULL AND contact.merged_into IS NULL AND contact.erased_at IS NULL
   LIMIT ${CONTACTS_LIMIT}`;

const LOCK_PAIR = `
  SELECT id, state, reasons FROM merge_suggestions
   WHERE organization_id = $1 AND first_id = $2 AND second_id = $3 FOR UPDATE`;

const ADD = `
  INSERT INTO merge_suggestions (organization_id, id, first_id, second_id, state, reasons, score, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
  ON CONFLICT (organization_id, first_id, second_id) DO NOTHING RETURNING id`;

const SET_REASONS = `
  UPDATE merge_suggestions SET reasons = $3, score = $4, updated_at = $5 WHERE organization_id = $1 AND id = $2`;

const SET_STATE = `
  UPDATE merge_suggestions SET state = $4, updated_at = $5
   WHERE organization_id = $1 AND first_id = $2 AND second_id = $3 RETURNING id`;

const WITH_VALUE = `
  SELECT id, state, reasons FROM merge_suggestions
   WHERE organization_id = $1 AND (first_id = $2 OR second_id = $2) AND reasons @> $3 FOR UPDATE`;

/** An identity that one contact has and another claims. */
interface ContestedIdentity {
  readonly ownerId: string;
  readonly claimantId: string;
  readonly type: string;
  readonly normal: string;
}

interface PairRow {
  id: string;
  state: 'open' | 'merged' | 'dismissed';
  reasons: Reason[];
}

/** Somebody else's pair that is gone when it is looked at was removed with its contact. */
const TRIES = 3;

/** The table `merge_suggestions`. */
@Injectable()
export class SuggestionsRepository {
  /** Notes that two contacts claim one value; a pair that was dismissed or merged stays so. */
  async raise(tx: Transaction, contested: ContestedIdentity, now: Date): Promise<void> {
    const { ownerId, claimantId, type, normal } = contested;
    const signal = signalOf(type);
    if (!signal) return;
    await tx.query(CLAIM, [tx.organizationId, type, normal, claimantId]);
    const others = await tx.query(CLAIMANTS, [tx.organizationId, type, normal, ownerId]);
    if (others.length + 1 > CONTACTS_LIMIT) return this.withdraw(tx, contested, now);
    const reason = { signal, type, value: normal, masked: maskSignal(type, normal) };
    const [first = '', second = ''] = [ownerId, claimantId].sort();
    for await (const _ of turns({ most: TRIES })) {
      const known = await this.locked(tx, first, second);
      if (known) return this.addReason(tx, known, reason, now);
      if (await this.add(tx, [first, second], 'open', [reason], now)) return;
      // Another has added it since it was looked for.
    }
    throw new Error('The suggestion of a pair comes and goes each time that it is looked at');
  }

  /** Says what has become of a pair: it was merged, or the merge was undone. */
  async settle(
    tx: Transaction,
    contactIds: readonly [string, string],
    state: 'merged' | 'dismissed',
    now: Date,
  ): Promise<void> {
    const [first = '', second = ''] = [...contactIds].sort();
    const settled = await tx.query(SET_STATE, [tx.organizationId, first, second, state, now]);
    // An undone pair is never suggested again, also if it never was.
    if (settled.length === 0 && state === 'dismissed') await this.add(tx, [first, second], state, [], now);
  }

  /** Takes values out of all that rests on them: who has claimed them, and the suggestions of pairs that both did. */
  withdrawValues(tx: Transaction, values: readonly WithdrawnValue[]): Promise<void> {
    return withdrawValues(tx, values);
  }

  private async locked(tx: Transaction, first: string, second: string): Promise<PairRow | undefined> {
    const [row] = await tx.query<PairRow>(LOCK_PAIR, [tx.organizationId, first, second]);
    return row;
  }

  private async add(
    tx: Transaction,
    [first, second]: readonly [string, string],
    state: PairRow['state'],
    reasons: readonly Reason[],
    now: Date,
  ): Promise<boolean> {
    const row = [newId(), first, second, state, JSON.stringify(reasons), scoreOf(reasons), now];
    return (await tx.query(ADD, [tx.organizationId, ...row])).length > 0;
  }

  private async addReason(tx: Transaction, row: PairRow, reason: Reason, now: Date): Promise<void> {
    const isKnown = row.reasons.some(({ type, value }) => type === reason.type && value === reason.value);
    if (row.state !== 'open' || isKnown) return;
    await this.setReasons(tx, row.id, [...row.reasons, reason], now);
  }

  /** Takes a value that too many claim out of every suggestion that rests on it. */
  private async withdraw(
    tx: Transaction,
    { ownerId, type, normal }: ContestedIdentity,
    now: Date,
  ): Promise<void> {
    const sought = JSON.stringify([{ type, value: normal }]);
    const rows = await tx.query<PairRow>(WITH_VALUE, [tx.organizationId, ownerId, sought]);
    for (const { id, reasons } of rows) {
      const left = reasons.filter((reason) => reason.type !== type || reason.value !== normal);
      await this.setReasons(tx, id, left, now);
    }
  }

  private async setReasons(
    tx: Transaction,
    id: string,
    reasons: readonly Reason[],
    now: Date,
  ): Promise<void> {
    await tx.query(SET_REASONS, [tx.organizationId, id, JSON.stringify(reasons), scoreOf(reasons), now]);
  }
}
