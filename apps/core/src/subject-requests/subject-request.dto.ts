import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsObject,
  IsString,
  Length,
  Matches,
  ValidateNested,
} from 'class-validator';
import { IsUUID, custom, IsInstant, IsWithoutRepeats, MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { isPurpose, PURPOSE_PATTERN } from '../vocabulary/consents/consent.js';
import { ARCHIVE_LOCALES, type ArchiveLocale } from './archive/texts.js';
import { IDENTITY_TYPE } from '../vocabulary/events/event-schemas.js';
import { IsNoPlaceholder } from '../vocabulary/identities/no-placeholder.decorator.js';
import { ERASING } from './erasure/receipts.js';
import { JURISDICTION_CODES, type JurisdictionCode } from './jurisdictions.js';
import {
  CORRECTED,
  GROUNDS,
  REQUEST_STATES,
  REQUEST_TYPES,
  type RequestType,
} from './subject-request.row.js';

const LONGEST_NOTE = 2_000;
const CORRECTED_FIELD = new RegExp(`^(${CORRECTED.join('|')}|attributes[.][^.]{1,100})$`);

/** Whom a request is about, by an identity. */
class SubjectIdentityDto {
  @ApiProperty({ example: 'email' })
  @IsString()
  @Matches(IDENTITY_TYPE)
  type: string;

  @ApiProperty({ example: 'ana@example.com' })
  @IsNoPlaceholder()
  @IsString()
  @Length(1, 500)
  value: string;
}

/** How it was made sure that the request is the person's own. */
export class VerificationInputDto {
  @ApiProperty({ example: 'clave_unica' })
  @IsString()
  @Length(1, 60)
  method: string;

  @ApiProperty({ example: 'case 4711', description: 'Where the proof is; removed by an erasure.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 200)
  reference?: string | null;

  @ApiProperty({ description: 'Default now; not in the future.' })
  @MayBeAbsent()
  @IsInstant()
  verified_at?: string;
}

/** What should stand where. */
class CorrectionDto {
  @ApiProperty({
    example: 'last_name',
    description: 'A field of the contact, `attributes.<key>`, or `other`.',
  })
  @IsString()
  @Matches(CORRECTED_FIELD)
  field: string;

  @ApiProperty({
    type: String,
    example: 'Núñez',
    description: 'Null: it should go. Of `national_id` always null: it is written on the contact alone.',
  })
  @MayBeNull()
  @IsString()
  @Length(1, 1_000)
  value: string | null;
}

/** Body of `POST /v1/core/subject-requests`. */
export class CreateSubjectRequestDto {
  @ApiProperty({
    description:
      'The platform carries out `access`, `erasure` and `portability`; staff does the others, and completes them.',
  })
  @IsIn(REQUEST_TYPES)
  type: RequestType;

  @ApiProperty({ format: 'uuid', description: 'Of the person; this or `identity`.' })
  @MayBeAbsent()
  @IsUUID()
  contact_id?: string;

  @ApiProperty({ type: SubjectIdentityDto, description: 'It is looked up at once, and not kept.' })
  @MayBeAbsent()
  @IsObject()
  @ValidateNested()
  @Type(() => SubjectIdentityDto)
  identity?: SubjectIdentityDto;

  @ApiProperty({ type: VerificationInputDto, description: 'Without it the request waits for it.' })
  @MayBeAbsent()
  @IsObject()
  @ValidateNested()
  @Type(() => VerificationInputDto)
  verification?: VerificationInputDto;

  @ApiProperty({ description: 'From when on its time runs; default now, not in the future.' })
  @MayBeAbsent()
  @IsInstant()
  received_at?: string;

  @ApiProperty({ enum: JURISDICTION_CODES, default: 'CL' })
  @MayBeAbsent()
  @IsIn(JURISDICTION_CODES)
  jurisdiction?: JurisdictionCode;

  @ApiProperty({
    enum: ARCHIVE_LOCALES,
    description: 'In which an archive explains itself; default the person’s own, else `es`.',
  })
  @MayBeAbsent()
  @IsIn(ARCHIVE_LOCALES)
  locale?: ArchiveLocale;

  @ApiProperty({ description: 'For whoever works on it; removed by an erasure.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, LONGEST_NOTE)
  note?: string | null;

  @ApiProperty({
    type: [CorrectionDto],
    description: 'Of a `rectification`, which needs them; removed when the request ends.',
  })
  @MayBeAbsent()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(50)
  @ValidateNested({ each: true })
  @Type(() => CorrectionDto)
  corrections?: CorrectionDto[];

  @ApiProperty({
    type: 'array',
    items: { type: 'string', pattern: PURPOSE_PATTERN },
    example: ['marketing'],
    description: 'Of an `opposition`, which needs them: its completion withdraws the consents to them.',
  })
  @MayBeAbsent()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(20)
  @IsWithoutRepeats()
  @custom('isPurpose', isPurpose, {
    each: true,
    message: 'each value of $property must be a purpose',
    context: { code: 'invalid_enum' },
  })
  purposes?: string[];
}

/** What was done about a request that staff completes. */
class CompletionInputDto {
  @ApiProperty({ example: 'The last name was corrected.', description: 'Removed by an erasure.' })
  @IsString()
  @Length(1, LONGEST_NOTE)
  outcome: string;
}

/** Why a request is not granted. */
export class RejectionInputDto {
  @IsIn(GROUNDS)
  ground: (typeof GROUNDS)[number];

  @ApiProperty({ example: 'The identity document does not match.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, LONGEST_NOTE)
  detail?: string | null;
}

/** Body of `PATCH /v1/core/subject-requests/{id}`: one of the four. */
export class UpdateSubjectRequestDto {
  @ApiProperty({ type: VerificationInputDto })
  @MayBeAbsent()
  @IsObject()
  @ValidateNested()
  @Type(() => VerificationInputDto)
  verification?: VerificationInputDto;

  @ApiProperty({ description: 'Extends the time once; without personal values, for it stays.' })
  @MayBeAbsent()
  @IsString()
  @Length(1, 500)
  extension_reason?: string;

  @ApiProperty({ type: RejectionInputDto })
  @MayBeAbsent()
  @IsObject()
  @ValidateNested()
  @Type(() => RejectionInputDto)
  rejection?: RejectionInputDto;

  @ApiProperty({ type: CompletionInputDto, description: 'Of a rectification, an opposition or a blocking.' })
  @MayBeAbsent()
  @IsObject()
  @ValidateNested()
  @Type(() => CompletionInputDto)
  completion?: CompletionInputDto;
}

/** Of words about the person. */
const HIDDEN = 'Null for callers without `core.contacts.read`.';

const time = (description?: string) =>
  ApiProperty({ type: String, format: 'date-time', nullable: true, ...(description ? { description } : {}) });

/** How it was made sure that the request is the person's own. */
class VerificationDto {
  @ApiProperty() method: string;
  @ApiProperty({ type: String, nullable: true, description: HIDDEN }) reference: string | null;
  @ApiProperty({ format: 'date-time' }) verified_at: string;
}

/** That the time was extended. */
class ExtensionDto {
  @ApiProperty() reason: string;
  @ApiProperty({ format: 'date-time' }) extended_at: string;
}

/** Why a request was not granted. */
class RejectionDto {
  @ApiProperty({ enum: GROUNDS }) ground: (typeof GROUNDS)[number];
  @ApiProperty({ type: String, nullable: true, description: HIDDEN }) detail: string | null;
}

const RECEIPT_STATES = ['pending', 'received', 'verified', 'refused'] as const;

/** What a module has answered to an erasure. */
export class ReceiptDto {
  @ApiProperty({ enum: ERASING }) module: (typeof ERASING)[number];
  @ApiProperty({ enum: RECEIPT_STATES }) state: (typeof RECEIPT_STATES)[number];
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    nullable: true,
    description: 'How many rows of each resource were removed or cleared.',
  })
  counts: Record<string, number> | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'A compact JWS (ES256); its key is in `/.well-known/jwks.json`.',
  })
  signature: string | null;
}

/** The archive of an access or a portability, which the same GET answers with `Accept: application/zip`. */
export class ResultDto {
  @ApiProperty({ description: 'Of the file, in hexadecimal.' }) sha256: string;
  @ApiProperty({ type: 'integer' }) bytes: number;
  @ApiProperty({ format: 'date-time', description: 'From then on it is gone: 404 `result_expired`.' })
  expires_at: string;
}

/** A request of a data subject. */
export class SubjectRequestDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ enum: REQUEST_TYPES }) type: RequestType;
  @ApiProperty({ enum: REQUEST_STATES }) state: (typeof REQUEST_STATES)[number];
  @ApiProperty({ format: 'uuid' }) contact_id: string;
  @ApiProperty({ enum: JURISDICTION_CODES }) jurisdiction: string;
  @ApiProperty({ format: 'date-time' }) received_at: string;
  @ApiProperty({ format: 'date-time', description: 'By the law of the jurisdiction.' }) due_at: string;
  @ApiProperty({ description: 'Whether it is open after `due_at`.' }) overdue: boolean;
  @ApiProperty({ type: VerificationDto, nullable: true }) verification: VerificationDto | null;
  @ApiProperty({ type: ExtensionDto, nullable: true }) extension: ExtensionDto | null;
  @ApiProperty({ type: RejectionDto, nullable: true }) rejection: RejectionDto | null;
  @ApiProperty({ type: String, nullable: true, description: HIDDEN }) note: string | null;
  @ApiProperty({
    type: [CorrectionDto],
    nullable: true,
    description: `Of a rectification, until it ends. ${HIDDEN}`,
  })
  corrections: CorrectionDto[] | null;
  @ApiProperty({ type: [String], nullable: true, description: 'Of an opposition.' }) purposes:
    string[] | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: `What staff did, where it completes the request. ${HIDDEN}`,
  })
  outcome: string | null;
  @ApiProperty({ type: [ReceiptDto] }) receipts: ReceiptDto[];
  @ApiProperty({ type: ResultDto, nullable: true }) result: ResultDto | null;
  @time() completed_at: string | null;
  @time('Until then topics may still hold what was told of the person.') residual_until: string | null;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
}
