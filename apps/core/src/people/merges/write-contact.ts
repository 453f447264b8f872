import type { Transaction } from '@customer-platform/database';
import { Contact } from '../contacts/contact.entity.js';

/** Writes columns of a locked contact; answers it as it is then. Its `updated_at` grows, also within a millisecond. */
export async function writeContact(
  tx: Transaction,
  before: Contact,
  content: Partial<Contact>,
  now: Date,
): Promise<Contact> {
  const { organizationId, id } = before;
  const updatedAt = new Date(Math.max(now.getTime(), before.updatedAt.getTime() + 1));
  const changes = { ...content, updatedAt };
  await tx.manager.update(Contact, { organizationId, id }, changes as object);
  return Object.assign(new Contact(), before, changes);
}
