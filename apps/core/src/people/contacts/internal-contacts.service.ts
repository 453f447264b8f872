import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '@customer-platform/database';
import { identifierForms } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { PUSH_TOKEN } from '../../vocabulary/identities/identity-value.js';
import type { ContactAddressDto, ContactLookupDto } from './internal-contacts.dto.js';
import {
  SHARED_COLUMNS,
  snapshotOf,
  stateOf,
  type ContactState,
  type SharedContact,
} from '../../vocabulary/contacts/shared-contact.js';

/** A contact takes at most 100 others, theirs included (core.md §4). */
const LONGEST_CHAIN = 100;

const BY_IDS = `SELECT ${SHARED_COLUMNS} FROM contacts WHERE organization_id = $1 AND id = ANY($2::uuid[])`;

const BY_EXTERNAL_ID = `
  SELECT contact_id FROM identities
   WHERE organization_id = $1 AND type = 'external_id' AND normal_value = ANY($2::text[]) AND yielded_at IS NULL
   ORDER BY array_position($2::text[], normal_value) LIMIT 1`;

/** Of a merged contact those of its survivor; of one that is not active none. */
const DEVICES = `
  WITH RECURSIVE chain AS (
    SELECT c.id AS asked, c.id, c.merged_into, c.deleted_at, c.erased_at, 0 AS step
      FROM contacts AS c WHERE c.organization_id = $1 AND c.id = ANY($2::uuid[])
    UNION ALL
    SELECT chain.asked, c.id, c.merged_into, c.deleted_at, c.erased_at, chain.step + 1
      FROM chain JOIN contacts AS c ON c.organization_id = $1 AND c.id = chain.merged_into
     WHERE chain.step < ${String(LONGEST_CHAIN)})
  SELECT chain.asked AS contact_id, device.id AS identity_id, device.value, device.last_seen_at AS seen_at
    FROM chain CROSS JOIN LATERAL (
      SELECT id, value, last_seen_at FROM identities AS own
       WHERE own.organization_id = $1 AND own.contact_id = chain.id AND own.type = '${PUSH_TOKEN}'
         AND own.yielded_at IS NULL OFFSET 0) AS device
   WHERE chain.merged_into IS NULL AND chain.deleted_at IS NULL AND chain.erased_at IS NULL`;

const LATEST_TOKEN = `
  SELECT value FROM identities
   WHERE organization_id = $1 AND contact_id = $2 AND type = '${PUSH_TOKEN}' AND yielded_at IS NULL
   ORDER BY last_seen_at DESC, id DESC LIMIT 1`;

/** A contact as the other modules are told of it. */
export interface LookedUpContact {
  id: string;
  state: ContactState;
  merged_into: string | null;
  version: number;
  /** Null for a merged or erased contact: it has no profile of its own. */
  contact: ReturnType<typeof snapshotOf> | null;
}

/** Where a contact can be reached. */
export interface ContactAddress {
  contact_id: string;
  state: ContactState;
  channel: string;
  /** Null if it has none for the channel, or is not active. */
  address: string | null;
  locale: string | null;
  timezone: string | null;
}

/** A device of a contact: one of its push tokens. */
export interface ContactDevice {
  contact_id: string;
  identity_id: string;
  value: string;
  seen_at: Date;
}

/** What the other modules ask about contacts (contract.md §9). */
@Injectable()
export class InternalContactsService {
  constructor(private readonly database: Database) {}

  /** The contacts with these ids; those of nobody, and of other organizations, are left out. */
  async lookup({
    organization_id: organizationId,
    ids,
  }: ContactLookupDto): Promise<{ data: LookedUpContact[] }> {
    const rows = await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query<SharedContact>(BY_IDS, [organizationId, ids]),
    );
    const data = rows.map((row) => {
      const { id, mergedInto: merged_into, version } = row;
      const state = stateOf(row);
      const hasProfile = state === 'active' || state === 'deleted';
      return { id, state, merged_into, version, contact: hasProfile ? snapshotOf(row) : null };
    });
    return { data };
  }

  /** The devices of these contacts, each under the id that was asked for. */
  async devices({
    organization_id: organizationId,
    ids,
  }: ContactLookupDto): Promise<{ data: ContactDevice[] }> {
    const data = await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query<ContactDevice & { [column: string]: unknown }>(DEVICES, [organizationId, ids]),
    );
    return { data };
  }

  /**
   * The address of a contact for a channel; of a merged contact, its survivor's.
   * @throws Problem `not_found`, `validation_failed`
   */
  async address(body: ContactAddressDto): Promise<ContactAddress> {
    const { organization_id: organizationId, channel } = body;
    if ((body.contact_id === undefined) === (body.external_id === undefined)) {
      const detail = 'Exactly one of contact_id and external_id is needed.';
      throw Problem.validation([{ pointer: '/contact_id', code: 'required', detail }]);
    }
    return this.database.inOrganization({ organizationId }, async (tx) => {
      const row = await this.find(tx, body);
      const { id, locale, timezone } = row;
      const state = stateOf(row);
      const address = state === 'active' ? await addressOf(tx, row, channel) : null;
      return { contact_id: id, state, channel, address, locale, timezone };
    });
  }

  private async find(tx: Transaction, body: ContactAddressDto): Promise<SharedContact> {
    let id = body.contact_id;
    if (body.external_id !== undefined) {
      const parameters = [tx.organizationId, identifierForms(body.external_id)];
      const [owner] = await tx.query<{ contact_id: string }>(BY_EXTERNAL_ID, parameters);
      id = owner?.contact_id;
    }
    const seen = new Set<string>();
    while (id !== undefined && !seen.has(id)) {
      seen.add(id);
      const [row] = await tx.query<SharedContact>(BY_IDS, [tx.organizationId, [id]]);
      if (row?.mergedInto) id = row.mergedInto;
      else if (row) return row;
      else break;
    }
    throw new Problem('not_found');
  }
}

async function addressOf(tx: Transaction, row: SharedContact, channel: string): Promise<string | null> {
  switch (channel) {
    case 'email':
      return row.email;
    case 'sms':
    case 'whatsapp':
      return row.phone;
    case 'in_app':
      return row.id;
    default: {
      const [token] = await tx.query<{ value: string }>(LATEST_TOKEN, [tx.organizationId, row.id]);
      return token?.value ?? null;
    }
  }
}
