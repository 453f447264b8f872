import type { Transaction } from '@customer-platform/database';
import { applyTraits, emptyProfile, type ContactProfile } from '../vocabulary/contacts/contact-profile.js';
import { identityForms, isOpaque } from '../vocabulary/identities/identity-value.js';
import type { IdentifyBody } from '../vocabulary/events/event-schemas.js';
import { isShaped } from '../vocabulary/events/event-validation.js';
import type { ErasedIdentifiers, Identifier, SoughtIdentifier } from '../blocklist/erased-identifiers.js';
import { within, type ChunkContact } from './chunk-contact.js';
import { namedBy, normalPhones, parsed, signsIn } from '../vocabulary/events/named-values.js';
import type { FailedItem, Failure, WorkItem } from '../vocabulary/events/work-item.js';

/** Code of what comes of a person who was erased (core.md §6). */
const SUBJECT_ERASED = 'subject_erased';

/** Why an event of an erased person has no effect: no replay can help. */
export const ERASURE_FAILURE: Failure = {
  stage: 'resolve',
  code: SUBJECT_ERASED,
  detail: 'The person was erased: nothing is created for the identifiers of the event.',
  attempts: 1,
  closed: SUBJECT_ERASED,
};

/** The event of a dead letter that is run again is one of a person who was erased meanwhile. */
export class SubjectErased extends Error {
  override readonly name = 'SubjectErased';
}

/** The event without what it says and of whom: that it came is counted, and a repeat of it known. */
export function forgotten(item: WorkItem): FailedItem {
  const { organizationId, eventId, kind, receivedAt, day, fingerprint, partition } = item;
  const raw = Buffer.alloc(0);
  return {
    organizationId,
    eventId,
    kind,
    receivedAt,
    day,
    fingerprint,
    partition,
    raw,
    failure: ERASURE_FAILURE,
  };
}

/** The event without the address and the number that its contact is not to have. */
export function withoutBlockedTraits(item: WorkItem, blocked: readonly NamedByEvent[]): WorkItem {
  if (blocked.length === 0) return item;
  const body = item.body as IdentifyBody;
  const traits = Object.entries(body.traits).filter(
    ([name, sent]) => !blocked.some(({ type, value }) => type === name && value === sent),
  );
  return { ...item, body: { ...body, traits: Object.fromEntries(traits) } };
}

/** The events that failed, those of erased people without what they say: a dead letter would keep it. */
export async function withoutErased(
  tx: Transaction,
  blocklist: ErasedIdentifiers,
  dead: readonly FailedItem[],
): Promise<FailedItem[]> {
  const named = dead.flatMap((item) => identifiersOfFailed(item).map((each) => ({ ...each, item })));
  const blocked = new Set([...(await blocklist.blocked(tx, named))].map(({ item }) => item));
  return dead.map((item) =>
    blocked.has(item)
      ? { ...item, raw: Buffer.alloc(0), externalId: undefined, failure: closed(item.failure) }
      : item,
  );
}

function closed(failure: Failure): Failure {
  return { ...failure, closed: failure.closed ?? SUBJECT_ERASED };
}

/** All by which the event names a person; of what is no event, what looks like an address or a number. */
function identifiersOfFailed({ organizationId, externalId, kind, raw }: FailedItem): SoughtIdentifier[] {
  if (raw.length === 0) return [];
  const text = raw.toString('utf8');
  const body = parsed(text);
  const { values, country } = namedBy(body);
  const identifiers = values.flatMap(({ type, value }) => normals(type, value, new Set([country, null])));
  if (externalId !== undefined) identifiers.push(...normals('external_id', externalId, []));
  if (!isShaped(kind, body)) {
    const { emails, numbers } = signsIn(text);
    for (const email of emails) identifiers.push(...normals('email', email, []));
    for (const number of numbers) identifiers.push(...normals('phone', number, [null]));
  }
  return identifiers.map((each) => ({ organizationId, ...each }));
}

function normals(type: string, value: string, countries: Iterable<string | null>): Identifier[] {
  if (type === 'phone') return normalPhones(value, countries).map((normal) => ({ type, normal }));
  return identityForms(type, value, null).map((normal) => ({ type, normal }));
}

/** An identifier by which an event names somebody. */
interface NamedByEvent extends SoughtIdentifier {
  readonly item: WorkItem;
  /** As the event writes it. */
  readonly value: string;
}

/** The contact of an event, as it was before the event. */
type ContactBefore = Pick<ChunkContact, 'id' | 'deleted' | 'profile'>;

/** Of blocked identifiers, those that the contact itself has: they are not another's. */
const OWN = `
  SELECT wanted.place
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) WITH ORDINALITY
           AS wanted (organization_id, contact_id, type, normal, place)
   WHERE EXISTS (SELECT FROM identities AS own
                  WHERE own.organization_id = wanted.organization_id AND own.contact_id = wanted.contact_id
                    AND own.type = wanted.type AND own.normal_value = wanted.normal)
      OR EXISTS (SELECT FROM contacts AS own
                  WHERE own.organization_id = wanted.organization_id AND own.id = wanted.contact_id
                    AND wanted.normal = CASE wanted.type WHEN 'email' THEN own.email_normal WHEN 'phone' THEN own.phone END)`;

/**
 * The events that name an erased person. Asked of those alone that would make a contact or claim an identity, for all
 * of a chunk at once: a track of a contact that is there is not asked for. It must be asked after the owners of the
 * external ids were read: whoever saw an identity no more sees that it is blocked.
 * @param items in the order in which they are applied
 * @param contactOf the contact of the event's external id, with its profile where one of the events is an identify
 */
export async function eventsOfErased(
  tx: Transaction,
  blocklist: ErasedIdentifiers,
  items: readonly WorkItem[],
  contactOf: (item: WorkItem) => ContactBefore | undefined,
): Promise<Set<WorkItem>> {
  const erased = new Set<WorkItem>();
  // Each turn but the last finds one more.
  for (let found = -1; found < erased.size;) {
    found = erased.size;
    const left = items.filter((item) => !erased.has(item));
    const named = await blockedIn(tx, blocklist, left, contactOf);
    for (const { item } of named) erased.add(item);
    // By the country that such an event says no number of another is read: then they are asked for anew.
    if (!named.some(({ item }) => saysCountry(item))) break;
  }
  return erased;
}

/** The blocked identifiers that the events name, and that are not their contact's own. */
export async function blockedIn(
  tx: Transaction,
  blocklist: ErasedIdentifiers,
  items: readonly WorkItem[],
  contactOf: (item: WorkItem) => ContactBefore | undefined,
): Promise<NamedByEvent[]> {
  const blocked = [...(await blocklist.blocked(tx, namesOf(items, contactOf)))];
  const known = blocked.flatMap((named) => {
    const contact = contactOf(named.item);
    return contact ? { ...named, named, contactId: contact.id } : [];
  });
  if (known.length === 0) return blocked;
  const rows = await tx.query<{ place: string }>(OWN, [
    known.map(({ organizationId }) => organizationId),
    known.map(({ contactId }) => contactId),
    known.map(({ type }) => type),
    known.map(({ normal }) => normal),
  ]);
  const own = new Set(rows.map(({ place }) => known[Number(place) - 1]?.named));
  return blocked.filter((named) => !own.has(named));
}

function namesOf(
  items: readonly WorkItem[],
  contactOf: (item: WorkItem) => ContactBefore | undefined,
): NamedByEvent[] {
  const countries = new Countries();
  return items.flatMap((item) => {
    const { organizationId, kind, body } = item;
    const contact = contactOf(item);
    const { external_id: externalId } = body;
    if (kind === 'track')
      return contact
        ? []
        : [{ organizationId, type: 'external_id', normal: externalId, value: externalId, item }];
    const { values, country: said } = namedBy(body);
    const read = new Set([countries.after(item, contact), said]);
    const asked = contact ? values.slice(1) : values;
    return asked.flatMap(({ type, value }) => {
      // Of the forms of an opaque one the event has that which is kept, or is blocked: another may be somebody else's.
      const named = isOpaque(type) ? [{ type, normal: value }] : normals(type, value, read);
      return named.map((each) => ({ organizationId, ...each, value, item }));
    });
  });
}

/** The country of each contact as identifies change it, by which their numbers are read. */
class Countries {
  private readonly profiles = new Map<string, ContactProfile>();

  /** As it is once the identify is applied. */
  after(item: WorkItem, contact: ContactBefore | undefined): string | null {
    const { organizationId, body, occurredAt } = item;
    const name = contact?.id ?? within(organizationId, body.external_id);
    const profile = this.profiles.get(name) ?? countryOf(contact?.profile);
    this.profiles.set(name, profile);
    if (saysCountry(item) && contact?.deleted !== true) {
      const { country } = (body as IdentifyBody).traits;
      applyTraits(profile, { country }, occurredAt);
    }
    return profile.country;
  }
}

function countryOf(known: ContactProfile | undefined): ContactProfile {
  const profile = emptyProfile();
  const at = known?.fieldTimes.fields['country'];
  if (at !== undefined) profile.fieldTimes.fields['country'] = at;
  profile.country = known?.country ?? null;
  return profile;
}

function saysCountry({ kind, body }: WorkItem): boolean {
  return kind === 'identify' && Object.hasOwn((body as IdentifyBody).traits, 'country');
}
