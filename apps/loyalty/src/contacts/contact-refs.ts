import { Inject, Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { LEDGER_KEY } from '../ledger-key.js';
import { contactHash } from '../earning/rule-event-hash.js';

/** A contact's state as an event of core tells it. */
export interface ContactState {
  id: string;
  state: 'active' | 'merged' | 'deleted';
  mergedInto: string | null;
  version: number;
}

/** An older version never overwrites a newer: events of one contact can be delivered again. */
const FOLLOW = `
  INSERT INTO contact_refs (organization_id, id, state, merged_into, version)
  SELECT DISTINCT ON (id) $1, id, state, merged_into, version
    FROM unnest($2::uuid[], $3::text[], $4::uuid[], $5::bigint[]) AS given (id, state, merged_into, version)
   ORDER BY id, version DESC
  ON CONFLICT (organization_id, id) DO UPDATE
    SET state = excluded.state, merged_into = excluded.merged_into, version = excluded.version
  WHERE contact_refs.version < excluded.version`;

const STATES = `
  SELECT asked.id, ref.state, ref.merged_into, survivor.state AS survivor_state,
         erased.contact_hash IS NOT NULL AS erased
    FROM unnest($2::uuid[], $3::bytea[]) AS asked (id, hash)
    LEFT JOIN contact_refs ref ON ref.organization_id = $1 AND ref.id = asked.id
    LEFT JOIN contact_refs survivor ON survivor.organization_id = $1 AND survivor.id = ref.merged_into
    LEFT JOIN erased_contacts erased ON erased.organization_id = $1 AND erased.contact_hash = asked.hash`;

interface StateRow {
  id: string;
  state: ContactState['state'] | null;
  merged_into: string | null;
  survivor_state: ContactState['state'] | null;
  erased: boolean;
}

/** What loyalty knows of contacts, followed from core's events. */
@Injectable()
export class ContactRefs {
  constructor(@Inject(LEDGER_KEY) private readonly key: string) {}

  /** Takes over the states of contacts of the transaction's organization. */
  async follow(tx: Transaction, contacts: readonly ContactState[]): Promise<void> {
    await tx.query(FOLLOW, [
      tx.organizationId,
      contacts.map(({ id }) => id),
      contacts.map(({ state }) => state),
      contacts.map(({ mergedInto }) => mergedInto),
      contacts.map(({ version }) => version),
    ]);
  }

  /**
   * Who earns for a contact: itself, or its survivor; nobody for one that is soft-deleted or erased. One that is not
   * known yet earns: core tells of a contact before it tells of its events.
   */
  async earners(tx: Transaction, contactIds: readonly string[]): Promise<Map<string, string>> {
    const ids = [...new Set(contactIds)];
    const rows = await tx.query<StateRow>(STATES, [
      tx.organizationId,
      ids,
      ids.map((id) => contactHash(this.key, tx.organizationId, id)),
    ]);
    const earners = new Map<string, string>();
    for (const row of rows) {
      const owner = row.state === 'merged' && row.merged_into !== null ? row.merged_into : row.id;
      const state = row.state === 'merged' ? row.survivor_state : row.state;
      if (!row.erased && state !== 'deleted') earners.set(row.id, owner);
    }
    return earners;
  }
}
