import { newId } from '@customer-platform/database';
import type { Caller } from '@customer-platform/testing';
import type { TestCore } from '../../core.fixture.js';

/** An organization with one contact and a client for its consents. */
export interface ConsentWorld {
  readonly organizationId: string;
  readonly contactId: string;
  readonly caller: Caller;
  /** Of the contact's consents. */
  readonly path: string;
}

/** A row among the contacts, as any path makes it. */
export async function aContactRow(
  core: TestCore,
  organizationId: string,
  overrides: { merged_into?: string; deleted_at?: string; erased_at?: string } = {},
): Promise<string> {
  const id = newId();
  const { merged_into = null, deleted_at = null, erased_at = null } = overrides;
  await core.database.query(
    `INSERT INTO contacts (organization_id, id, external_id, source, merged_into, deleted_at, erased_at)
     VALUES ($1, $2, $3, 'api', $4, $5, $6)`,
    [organizationId, id, `person-${id}`, merged_into, deleted_at, erased_at],
  );
  return id;
}

/** A fresh organization with one contact. */
export async function aConsentWorld(core: TestCore): Promise<ConsentWorld> {
  const { id: organizationId } = core.anOrganization();
  const contactId = await aContactRow(core, organizationId);
  const caller = core.app.as(organizationId, ['core.consents.read', 'core.consents.write']);
  return { organizationId, contactId, caller, path: `/v1/core/contacts/${contactId}/consents` };
}

/** A grant that is right. */
export function aGrant(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    purpose: 'marketing',
    channel: 'email',
    status: 'granted',
    notice_version: '2026-03',
    method: 'web_form',
    ...overrides,
  };
}

/** A grant of marketing by a process whose clock goes ahead of this one's. @returns when it is dated */
export async function grantAhead(
  core: TestCore,
  { organizationId, contactId }: { organizationId: string; contactId: string },
): Promise<Date> {
  const ahead = new Date(Date.now() + 1_000);
  await core.database.query(
    `INSERT INTO consent_events (organization_id, id, contact_id, purpose, status, notice_version, method, legal_basis,
       occurred_at, controller, actor_type, actor_id, correlation_id, recorded_at)
     VALUES ($1, $2, $3, 'marketing', 'granted', '1', 'form', 'consent', $4, $1, 'service', 'other', $2, $4)`,
    [organizationId, newId(), contactId, ahead],
  );
  return ahead;
}
