import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import type { Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { InvitationRow } from './invitation.row.js';

/** What becomes of an invitation, as its event says it. */
type InvitationVerb = 'created' | 'resent' | 'revoked' | 'accepted';

const ACTIONS: Readonly<Record<InvitationVerb, string>> = {
  created: 'identity.invitations.create',
  resent: 'identity.invitations.resend',
  revoked: 'identity.invitations.revoke',
  accepted: 'identity.invitations.accept',
};
const CHANGED: Readonly<Record<InvitationVerb, readonly string[]>> = {
  created: ['email', 'role_ids', 'locale', 'expires_at'],
  resent: ['status', 'expires_at'],
  revoked: ['status'],
  accepted: ['status', 'accepted_at'],
};
/** The mail is in the organization's language where the invitation names none. */
const LOCALE = 'SELECT locale FROM organizations WHERE organization_id = $1';

/** Writes down and tells what becomes of invitations, in the transaction of the change: never the address or a token. */
@Injectable()
export class InvitationJournal {
  constructor(
    private readonly audit: Audit,
    private readonly outbox: Outbox,
  ) {}

  async record(
    tx: Transaction,
    context: AuditContext,
    verb: InvitationVerb,
    invitation: InvitationRow,
  ): Promise<void> {
    const { organizationId } = tx;
    const { id, generation, expires_at: expiresAt } = invitation;
    await this.audit.record(tx, context, {
      action: ACTIONS[verb],
      resource: { type: 'invitations', id },
      changedFields: CHANGED[verb],
    });
    await this.outbox.append(tx, {
      type: `identity.invitation.${verb}.v1`,
      organizationId,
      key: id,
      subject: `invitations/${id}`,
      data: {
        organization_id: organizationId,
        id,
        locale: invitation.locale ?? (await localeOf(tx)),
        generation,
        expires_at: expiresAt.toISOString(),
      },
      correlationId: context.correlationId,
    });
  }
}

async function localeOf(tx: Transaction): Promise<string | null> {
  const [row] = await tx.query<{ locale: string }>(LOCALE, [tx.organizationId]);
  return row?.locale ?? null;
}
