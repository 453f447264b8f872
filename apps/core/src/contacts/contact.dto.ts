import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsObject, IsString, MaxLength, MinLength, ValidateNested } from 'class-validator';
import { custom, MayBeAbsent, MayBeNull, PatchOf } from '@customer-platform/http';
import { IsNoPlaceholder } from '../identities/no-placeholder.decorator.js';
import { LONGEST } from './known-traits.js';
import { NATIONAL_ID_TYPES, type NationalIdType } from '../national-ids/national-id-types.js';

/** A date of the calendar, `2000-02-29`, not after today. */
function IsPastDate(): PropertyDecorator {
  return custom('isPastDate', isPastDate, { message: '$property must be a past date, such as 1990-05-17' });
}

function isPastDate(value: unknown): boolean {
  if (typeof value !== 'string' || !/^(?!0000)\d{4}-\d\d-\d\d$/.test(value)) return false;
  const read = new Date(`${value}T00:00:00.000Z`);
  return (
    !Number.isNaN(read.getTime()) && read.toISOString().startsWith(value) && read.getTime() <= Date.now()
  );
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

const text = (maxLength: number, example: string, description?: string) =>
  ApiProperty({
    minLength: 1,
    maxLength,
    example,
    ...(description === undefined ? {} : { description }),
  });

/** The fields of a contact that can be written; one of `external_id`, `email` and `phone` is required. */
export class ContactFieldsDto {
  @ApiProperty({ example: 'customer-1042', description: 'Compared byte by byte; set once.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsNoPlaceholder()
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  external_id?: string | null;

  @ApiProperty({ minLength: 1, example: 'ana@example.com' })
  @MayBeAbsent()
  @MayBeNull()
  @IsNoPlaceholder()
  @IsString()
  @MaxLength(254)
  email?: string | null;

  @ApiProperty({
    minLength: 1,
    example: '+56912345678',
    description: 'E.164; a national form is read by `country`.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsNoPlaceholder()
  @IsString()
  @MaxLength(40)
  phone?: string | null;

  @text(LONGEST.name, 'Ana')
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  first_name?: string | null;

  @text(LONGEST.name, 'Rojas')
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  last_name?: string | null;

  @ApiProperty({ type: String, format: 'date', example: '1990-05-17' })
  @MayBeAbsent()
  @MayBeNull()
  @IsPastDate()
  birth_date?: string | null;

  @text(LONGEST.locale, 'es-CL', 'BCP 47.')
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  locale?: string | null;

  @text(LONGEST.timezone, 'America/Santiago', 'IANA name.')
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  timezone?: string | null;

  @text(2, 'CL', 'ISO 3166-1 alpha-2.')
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  country?: string | null;

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
export class MaskedNationalIdDto {
  @ApiProperty({ enum: NATIONAL_ID_TYPES }) type: NationalIdType;
  @ApiProperty({ example: '***5678-5' }) masked: string;
}

const nullable = (format?: string) =>
  ApiProperty({ type: String, nullable: true, ...(format === undefined ? {} : { format }) });

/** A contact as it is answered. */
export class ContactDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @nullable() external_id: string | null;
  @nullable() email: string | null;
  @nullable() phone: string | null;
  @nullable() first_name: string | null;
  @nullable() last_name: string | null;
  @nullable('date') birth_date: string | null;
  @nullable() locale: string | null;
  @nullable() timezone: string | null;
  @nullable() country: string | null;
  @ApiProperty({ type: MaskedNationalIdDto, nullable: true }) national_id: MaskedNationalIdDto | null;
  @ApiProperty({ type: 'object', additionalProperties: true }) attributes: Record<string, unknown>;
  @ApiProperty({ minimum: 1, type: 'integer' }) version: number;
  @ApiProperty({ description: 'What made it: `api`, `track`, `identify` or `import`.' }) source: string;
  @ApiProperty({ format: 'date-time', description: 'Of its latest event; of its creation before that.' })
  last_seen_at: string;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @nullable('date-time') deleted_at: string | null;
}
