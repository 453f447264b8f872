import type { Actor } from '@customer-platform/http';

/** The topic on which every module's audit rows travel to the audit log; key: the organization. */
export const AUDIT_TOPIC = 'audit.entries';

/** One audit row as it is published: who did what to which row. Names of fields only, never a personal value. */
export interface AuditEntry {
  id: string;
  organization_id: string;
  /** UTC with milliseconds. */
  occurred_at: string;
  actor: { type: string; id: string; impersonator_id: string | null };
  /** In the form of a permission: `loyalty.rules.update`. */
  action: string;
  module: string;
  resource: { type: string; id: string };
  outcome: 'success' | 'denied';
  changed_fields: string[];
  reason: string | null;
  correlation_id: string;
  ip: string | null;
  user_agent: string | null;
}

/** Who acts, in which organization and on whose call; a `RequestContext` is one. */
export interface AuditContext {
  readonly organizationId: string;
  readonly actor: Actor;
  readonly correlationId: string;
  readonly ip?: string;
  readonly userAgent?: string;
}

/** The platform itself as actor: a consumer, a sweep, an operator's command. */
export function systemActor(organizationId: string, correlationId: string, name: string): AuditContext {
  return { organizationId, correlationId, actor: { type: 'system', id: name } };
}
