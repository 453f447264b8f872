import type { WorkerTransaction } from '@customer-platform/database';
import type { ContactIdentities } from '../people/contacts/contact-identities.js';
import type { IdentifyBody } from '../vocabulary/events/event-schemas.js';
import type { WorkItem } from '../vocabulary/events/work-item.js';

/**
 * The events with the identifiers of other systems as they are kept: all that follows, the events as they are stored
 * included, knows a person by one writing. An undo of a merge tells by it whose an event is.
 */
export async function withKeptIdentifiers(
  tx: WorkerTransaction,
  contactIdentities: ContactIdentities,
  items: readonly WorkItem[],
): Promise<readonly WorkItem[]> {
  const kept = await contactIdentities.keptForms(tx, items.flatMap(identifiersOf));
  return items.map((item) => {
    const { organizationId, body } = item;
    const { identities } = body as Partial<IdentifyBody>;
    const externalId = kept({ organizationId, type: 'external_id', value: body.external_id });
    const read = identities?.map((each) => ({ ...each, value: kept({ organizationId, ...each }) }));
    const isSame =
      externalId === body.external_id &&
      read?.every(({ value }, at) => value === identities?.[at]?.value) !== false;
    if (isSame) return item;
    return { ...item, body: { ...body, external_id: externalId, ...(read && { identities: read }) } };
  });
}

function identifiersOf({ organizationId, body }: WorkItem) {
  const { identities = [] } = body as Partial<IdentifyBody>;
  const externalId = { type: 'external_id', value: body.external_id };
  return [externalId, ...identities].map(({ type, value }) => ({ organizationId, type, value }));
}
