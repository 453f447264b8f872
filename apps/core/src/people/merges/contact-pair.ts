import { Injectable } from '@nestjs/common';
import { postgresFailure, type Transaction } from '@customer-platform/database';
import { turns } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { In } from 'typeorm';
import { Contact } from '../contacts/contact.entity.js';

const LOCK_ACTIVITY = `
  SELECT contact_id, last_seen_at FROM contact_activity
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) ORDER BY contact_id FOR UPDATE`;

const SET_PATIENCE = `
  WITH former AS MATERIALIZED (SELECT current_setting('lock_timeout') AS value)
  SELECT former.value, set_config('lock_timeout', $1, true) FROM former`;

/** Shorter than Postgres waits before it looks for a deadlock and ends one of those who are in it. */
const PATIENCE_MS = 300;
const TRIES = 15;
const PAUSE_MS = 20;

/** Postgres: a lock was not had within `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Contacts that are locked, against events too, until the transaction ends. */
export interface LockedContacts {
  readonly contacts: ReadonlyMap<string, Contact>;
  /** When each was last seen. */
  readonly seen: ReadonlyMap<string, Date>;
}

/** Locks contacts for a merge or its undo, or for an erasure. */
@Injectable()
export class ContactPair {
  /**
   * Locks them as events do, what was last seen first and then the contacts themselves. Events of many contacts are
   * processed at once and lock in an order of their own: whoever would wait for long lets go and begins anew.
   * @throws Problem `dependency_unavailable` when events keep them for seconds
   */
  async lock(tx: Transaction, ids: readonly string[]): Promise<LockedContacts> {
    const seen = await this.lockActivity(tx, ids);
    const rows = await tx.manager.find(Contact, {
      where: { organizationId: tx.organizationId, id: In([...ids]) },
      order: { id: 'ASC' },
      lock: { mode: 'pessimistic_write' },
    });
    return { contacts: new Map(rows.map((row) => [row.id, row])), seen };
  }

  private async lockActivity(tx: Transaction, ids: readonly string[]): Promise<Map<string, Date>> {
    for await (const { isLast } of turns({ most: TRIES, pauseMs: PAUSE_MS })) {
      try {
        return await tx.savepoint(async () => {
          const before = await setPatience(tx, `${PATIENCE_MS}ms`);
          const rows = await tx.query<{ contact_id: string; last_seen_at: Date }>(LOCK_ACTIVITY, [
            tx.organizationId,
            ids,
          ]);
          await setPatience(tx, before);
          return new Map(rows.map((row) => [row.contact_id, row.last_seen_at]));
        });
      } catch (error) {
        if (postgresFailure(error)?.code !== LOCK_NOT_AVAILABLE) throw error;
        if (isLast) throw eventsKeepComing(error);
      }
    }
    throw eventsKeepComing();
  }
}

function eventsKeepComing(cause?: unknown): Problem {
  const detail = 'Events keep coming for the contacts; try again shortly.';
  return new Problem('dependency_unavailable', { detail, cause });
}

/** Of this transaction's locks, until it ends or another is set. @returns that of before */
async function setPatience(tx: Transaction, patience: string): Promise<string> {
  const [former] = await tx.query<{ value: string }>(SET_PATIENCE, [patience]);
  return former?.value ?? '0';
}
