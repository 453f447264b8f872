import { recordOf } from '@customer-platform/events';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsObject, IsString, MaxLength, MinLength, ValidateNested } from 'class-validator';
import { custom, MayBeAbsent, MayBeNull, PatchOf, type ListDefinition } from '@customer-platform/http';
import { IsNoPlaceholder } from '../../vocabulary/identities/no-placeholder.decorator.js';
import {
  CONTACT_FIELDS,
  FIELD_NAMES,
  propertyOf,
  type ByField,
  type FieldFacts,
  type FieldReader,
} from '../../vocabulary/contacts/contact-field-table.js';
import { classOf } from './field-class.js';
import { isPastDate, LONGEST } from '../../vocabulary/contacts/known-traits.js';
import { NATIONAL_ID_TYPES, type NationalIdType } from '../../vocabulary/national-ids/national-id-types.js';
import type { Contact } from './contact.entity.js';

/** A date of the calendar, `2000-02-29`, not after today. */
function IsPastDate(): PropertyDecorator {
  return custom('isPastDate', isPastDate, { message: '$property must be a past date, such as 1990-05-17' });
}

/** A national id as it is sent; it is never answered so but by the audited read. */
export class NationalIdInputDto {
  @ApiProperty({ example: 'CL_RUT' })
  @IsIn(NATIONAL_ID_TYPES)
  type: NationalIdType;

  @ApiProperty({ example: '12.345.678-5' })
  @IsString()
  @MinLength(1)
  @MaxLength(64)
  value: string;
}

/** Checks of a field that hold whatever the contact is, innermost first. */
const CHECKED: Record<FieldReader, readonly PropertyDecorator[]> = {
  external_id: [MaxLength(200), MinLength(1), IsString(), IsNoPlaceholder()],
  email: [MaxLength(254), IsString(), IsNoPlaceholder()],
  phone: [MaxLength(40), IsString(), IsNoPlaceholder()],
  name: [IsString()],
  past_date: [IsPastDate()],
  locale: [IsString()],
  timezone: [IsString()],
  country: [IsString()],
};

/** The rest of its description, which checks do not say: texts are measured once their ends are cut. */
const DESCRIBED: Record<FieldReader, ApiPropertyOptions> = {
  external_id: {},
  email: { minLength: 1 },
  phone: { minLength: 1 },
  name: { minLength: 1, maxLength: LONGEST.name },
  past_date: { type: String, format: 'date' },
  locale: { minLength: 1, maxLength: LONGEST.locale },
  timezone: { minLength: 1, maxLength: LONGEST.timezone },
  country: { minLength: 1, maxLength: 2 },
};

const WrittenFields = classOf<Partial<ByField<string | null>>>(FIELD_NAMES, (name) => {
  const { reader, example, description }: FieldFacts = CONTACT_FIELDS[name];
  const said = { example, ...(description === undefined ? {} : { description }) };
  return [...CHECKED[reader], MayBeNull(), MayBeAbsent(), ApiProperty({ ...DESCRIBED[reader], ...said })];
});

/** The fields of a contact that can be written; one of `external_id`, `email` and `phone` is required. */
class ContactFieldsDto extends WrittenFields {
  @ApiProperty({ type: NationalIdInputDto })
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  @ValidateNested()
  @Type(() => NationalIdInputDto)
  national_id?: NationalIdInputDto | null;

  @ApiProperty({
    description: 'At most 200 keys, 64 KiB together; one request sets or takes away at most 400.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  attributes?: Record<string, unknown> | null;
}

/** What `POST /v1/core/contacts` takes. */
export class CreateContactDto extends ContactFieldsDto {
  @ApiProperty({
    description:
      'Why a person who was erased is taken up again: their identifiers are refused without it. Kept in the audit log.',
  })
  @MayBeAbsent()
  @IsString()
  @MinLength(1)
  @MaxLength(500)
  readmit_reason?: string;
}

/** What `PATCH /v1/core/contacts/{id}` takes: JSON merge. */
export class UpdateContactDto extends PatchOf(ContactFieldsDto) {}

/** A national id as it is shown. */
class MaskedNationalIdDto {
  @ApiProperty({ enum: NATIONAL_ID_TYPES }) type: NationalIdType;
  @ApiProperty({ example: '***5678-5' }) masked: string;
}

const ShownFields = classOf<{ id: string } & ByField<string | null>>(['id', ...FIELD_NAMES], (name) => {
  if (name === 'id') return [ApiProperty({ format: 'uuid' })];
  const isDate = CONTACT_FIELDS[name].type === 'date';
  return [ApiProperty({ type: String, nullable: true, ...(isDate ? { format: 'date' } : {}) })];
});

/** A contact as it is answered. */
export class ContactDto extends ShownFields {
  @ApiProperty({ type: MaskedNationalIdDto, nullable: true }) national_id: MaskedNationalIdDto | null;
  @ApiProperty({ type: 'object', additionalProperties: true }) attributes: Record<string, unknown>;
  @ApiProperty({ minimum: 1, type: 'integer' }) version: number;
  @ApiProperty({ description: 'What made it: `api`, `track`, `identify` or `import`.' }) source: string;
  @ApiProperty({ format: 'date-time', description: 'Of its latest event; of its creation before that.' })
  last_seen_at: string;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ type: String, nullable: true, format: 'date-time' }) deleted_at: string | null;
}

/**
 * The order of contacts without a last name: before all others, in one index with them. Not `coalesce`, which PostgreSQL
 * does not hold for leakproof: under row level security no index is sought by it.
 */
const LAST_NAME_ORDER = `CASE WHEN last_name IS NULL THEN '' ELSE last_name END`;

/** The same, as the index has it along which cursors of the release before go on. */
export const FORMER_LAST_NAME_ORDER = `coalesce(last_name, '')`;

/** Last names by their bytes, as the index has them that finds equal ones and beginnings. */
export const LAST_NAME_BYTES = `last_name COLLATE "C"`;

const FIELD_FILTERS: ListDefinition['filters'] = Object.fromEntries(
  FIELD_NAMES.flatMap((field) => {
    const { filter }: FieldFacts = CONTACT_FIELDS[field];
    return filter ? [[field, { type: 'string', ...filter }]] : [];
  }),
);

/**
 * `GET /v1/core/contacts` (core.md §13). Emails and numbers are read in any form in which they match, `identity` as
 * `<type>:<value>`.
 */
export const CONTACT_LIST: ListDefinition = {
  resource: 'core.contacts',
  filters: {
    id: { type: 'uuid', column: 'id', ops: ['eq', 'in'] },
    ...FIELD_FILTERS,
    identity: {
      type: 'string',
      column: 'id',
      ops: ['eq', 'in'],
      pattern: '^(external_id|email|phone|anonymous_id|device_id|custom[.][a-z0-9][a-z0-9_-]{0,59}):.+$',
      description: 'A type and a value, such as `anonymous_id:9f1c`.',
    },
    segment_id: {
      type: 'uuid',
      column: 'id',
      ops: ['eq', 'in'],
      description: 'Contacts that are in the segment, or in one of several.',
    },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
    last_seen_at: { type: 'time', column: 'last_seen_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
    last_seen_at: { type: 'time', column: 'last_seen_at' },
    last_name: { type: 'string', column: LAST_NAME_ORDER, byLanguage: true },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
  extraParameters: {
    q: {
      type: 'string',
      pattern: '^[^\\u0000]{2,100}$',
      description:
        'People by what is typed: every word begins a word of the first or last name, or begins the email, the phone ' +
        'number or the external id. Case and accents are ignored.',
    },
  },
};

/** A contact with the time of its latest event, which is kept apart from it. */
export type SeenContact = Contact & { lastSeenAt: Date };

/** A contact as the API answers it. */
export function toContactDto(contact: SeenContact): ContactDto {
  const { nationalIdType: type, nationalIdMasked: masked } = contact;
  return {
    id: contact.id,
    ...recordOf(FIELD_NAMES, (field) => contact[propertyOf(field)]),
    national_id: type === null || masked === null ? null : { type, masked },
    attributes: contact.attributes,
    version: contact.version,
    source: contact.source,
    last_seen_at: contact.lastSeenAt.toISOString(),
    created_at: contact.createdAt.toISOString(),
    updated_at: contact.updatedAt.toISOString(),
    deleted_at: contact.deletedAt?.toISOString() ?? null,
  };
}
