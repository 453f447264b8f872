import { referencesToOrganization } from '@customer-platform/database';
import { IDENTITY_TEMPLATES } from './identity-messages/identity-templates.js';

const literals = (names: readonly string[]): string =>
  names.map((name) => `'${name.replaceAll("'", "''")}'`).join(', ');
const templates = literals(IDENTITY_TEMPLATES.map(({ name }) => name));
const rules = literals(IDENTITY_TEMPLATES.flatMap((template) => Object.keys(template.rules)));

/**
 * What keeps an organization from being purged: all but the mails of identity that every organization begins with,
 * by the names that they were given.
 */
export const ORGANIZATION_IN_MESSAGING = referencesToOrganization([
  { table: 'sends' },
  { table: 'suppressions' },
  { table: 'templates', which: `name NOT IN (${templates})` },
  { table: 'event_routing', which: `name NOT IN (${rules})` },
  { table: 'channel_settings' },
  { table: 'webhook_endpoints' },
]);
