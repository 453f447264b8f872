import { referencesToOrganization } from '@customer-platform/database';

/** Templates that every organization was given while identity's mail was still its own; nobody wrote them. */
const GIVEN = `'Invitation', 'Password reset'`;

/** What keeps an organization from being purged. */
export const ORGANIZATION_IN_MESSAGING = referencesToOrganization([
  { table: 'sends' },
  { table: 'suppressions' },
  { table: 'lifted_suppressions' },
  { table: 'campaigns' },
  { table: 'templates', which: `name NOT IN (${GIVEN})` },
  { table: 'event_routing' },
  { table: 'channel_settings' },
  { table: 'sender_domains' },
  { table: 'webhook_endpoints' },
]);
