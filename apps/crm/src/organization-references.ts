import { referencesToOrganization } from '@customer-platform/database';
import { FIRST_TYPES } from './activity-types/first-types.js';

const given = Object.keys(FIRST_TYPES).map((key) => `'${key}'`);

/** What keeps an organization from being purged: all but the types that every organization begins with. */
export const ORGANIZATION_IN_CRM = referencesToOrganization([
  { table: 'notes' },
  { table: 'activities' },
  { table: 'activity_types', which: `key NOT IN (${given.join(', ')})` },
  { table: 'lists' },
  { table: 'object_definitions' },
  { table: 'object_records', resource: 'objects' },
]);
