import { createHmac } from 'node:crypto';

/** As which an erased contact is remembered, tied to no row of the ledger. */
export function contactHash(key: string, organizationId: string, contactId: string): Buffer {
  return createHmac('sha256', key).update(`contact\0${organizationId}\0${contactId}`).digest();
}
