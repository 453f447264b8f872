import { referencesToOrganization } from '@customer-platform/database';

/** What keeps an organization from being purged: its ledger, and the rules that it is written by. */
export const ORGANIZATION_IN_LOYALTY = referencesToOrganization([
  { table: 'transactions' },
  { table: 'rules' },
]);
