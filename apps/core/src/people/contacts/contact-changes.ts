import { type Patch, sameJson, Whole } from '@customer-platform/database';
import type { CreateContactDto, UpdateContactDto } from './contact.dto.js';
import type { Contact } from './contact.entity.js';
import {
  applyFields,
  demandIdentifier,
  externalIdAfter,
  readNationalId,
  type Identifiers,
  type Moment,
} from './contact-fields.js';
import { emptyProfile, profileOf } from '../../vocabulary/contacts/contact-profile.js';
import {
  ADMINISTERED_FIELDS,
  propertyOf,
  type FieldTimes,
} from '../../vocabulary/contacts/contact-field-table.js';
import type { NationalIdVault } from '../national-ids/national-id.vault.js';

type Content = Partial<Contact>;

/**
 * The columns of a new contact.
 * @throws Problem `validation_failed` and the codes of fields
 */
export function newContact(
  vault: NationalIdVault,
  organizationId: string,
  body: CreateContactDto,
  moment: Moment,
): Content {
  const { now } = moment;
  const profile = emptyProfile();
  applyFields(profile, body, moment);
  const { email, phone } = profile;
  const externalId = body.external_id ?? null;
  demandIdentifier({ external_id: externalId, email, phone });
  const content = {
    ...profile,
    ...nationalIdColumns(vault, organizationId, body.national_id ?? null),
    externalId,
    ...administered(profile.fieldTimes, body, now),
    version: 1,
    source: 'api',
  };
  // What is not given is null by itself, and no change to tell of.
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null));
}

/** What a PATCH makes of a contact, and when its fields were said: those that were only confirmed count too. */
interface ContactChange {
  readonly patch: Patch<Contact>;
  readonly times: FieldTimes;
}

/**
 * The merge of a contact with what a PATCH gives.
 * @throws Problem `validation_failed` and the codes of fields
 */
export function changedContact(
  vault: NationalIdVault,
  contact: Contact,
  body: UpdateContactDto,
  moment: Moment,
): ContactChange {
  const { now } = moment;
  const profile = profileOf(contact);
  applyFields(profile, body, moment);
  const { fieldTimes: times, ...fields } = profile;
  const content: Content = {
    ...fields,
    externalId: externalIdAfter(contact.externalId, body.external_id),
    ...administered(times, body, now, contact),
    ...nationalIdChange(vault, contact, body),
  };
  const changed = Object.entries(content).some(
    ([name, value]) => !sameJson(value, contact[name as keyof Contact]),
  );
  if (!changed) return { patch: {}, times };
  const attributes = new Whole(profile.attributes);
  return { patch: { ...content, attributes, version: contact.version + 1 }, times };
}

/** A contact that is not found by the value of a field any more; not by way of a PATCH, which sets an external id once. */
export function withoutIdentifier(contact: Contact, field: keyof Identifiers, now: string): ContactChange {
  const times = structuredClone(contact.fieldTimes);
  if (field !== 'external_id') times.fields[field] = now;
  const cleared: Record<keyof Identifiers, Content> = {
    external_id: { externalId: null },
    email: { email: null, emailNormal: null },
    phone: { phone: null },
  };
  return { patch: { ...cleared[field], version: contact.version + 1 }, times };
}

/** The fields that no event sets, as far as they are given; of a new contact null says nothing. */
function administered(times: FieldTimes, body: UpdateContactDto, now: string, before?: Contact): Content {
  const content: Content = {};
  for (const field of ADMINISTERED_FIELDS) {
    const sent = body[field];
    if (sent === undefined) continue;
    if (before || sent !== null) times.fields[field] = now;
    content[propertyOf(field)] = sent;
  }
  return content;
}

function nationalIdColumns(
  vault: NationalIdVault,
  organizationId: string,
  sent: CreateContactDto['national_id'],
): Content {
  if (!sent) {
    return { nationalIdType: null, nationalIdIndex: null, nationalIdSealed: null, nationalIdMasked: null };
  }
  const { type, value } = readNationalId(sent);
  const { index, sealed, masked } = vault.seal(organizationId, type, value);
  return { nationalIdType: type, nationalIdIndex: index, nationalIdSealed: sealed, nationalIdMasked: masked };
}

/** The same value is sealed anew each time: it counts as unchanged by its index. */
function nationalIdChange(vault: NationalIdVault, contact: Contact, body: UpdateContactDto): Content {
  if (body.national_id === undefined) return {};
  const columns = nationalIdColumns(vault, contact.organizationId, body.national_id);
  return columns.nationalIdIndex === contact.nationalIdIndex ? {} : columns;
}
