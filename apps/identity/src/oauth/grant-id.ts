import { isUuid } from '@customer-platform/database';

/** A grant of the protocol is a session of ours: its id says which, and in which organization. */
export interface GrantOf {
  readonly organizationId: string;
  readonly sessionId: string;
}

export function toGrantId({ organizationId, sessionId }: GrantOf): string {
  return `${organizationId}.${sessionId}`;
}

/** Undefined for what is none of ours. */
export function fromGrantId(grantId: string | undefined): GrantOf | undefined {
  const [organizationId = '', sessionId = '', ...rest] = (grantId ?? '').split('.');
  return isUuid(organizationId) && isUuid(sessionId) && rest.length === 0
    ? { organizationId, sessionId }
    : undefined;
}
