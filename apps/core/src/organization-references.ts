import { referencesToOrganization } from '@customer-platform/database';

/** What keeps an organization from being purged: people, what they did, and what was made to look at them. */
export const ORGANIZATION_IN_CORE = referencesToOrganization([
  { table: 'contacts' },
  { table: 'events' },
  { table: 'consent_events', resource: 'consents' },
  { table: 'dead_letters' },
  { table: 'segments' },
  { table: 'attribute_definitions' },
  { table: 'taxonomy_installations', resource: 'taxonomies' },
  { table: 'imports' },
  { table: 'subject_requests' },
]);
