import type { ResolvedCredential } from '@customer-platform/authorization';

/** What holds all permissions of a credential back. */
export function restrictionOf({
  status,
  lacks_mfa: lacksMfa,
}: {
  readonly status: 'active' | 'suspended';
  readonly lacks_mfa?: boolean;
}): ResolvedCredential['restriction'] {
  if (status === 'suspended') return 'organization_suspended';
  return lacksMfa ? 'mfa_required' : null;
}
