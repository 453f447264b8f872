import { ApiProperty } from '@nestjs/swagger';
import { custom, IsInstant, MayBeAbsent, MayBeNull, type ListDefinition } from '@customer-platform/http';
import { ArrayMaxSize, IsArray, IsIn, IsObject, IsString, Length } from 'class-validator';
import {
  CONSENT_CHANNELS,
  isPurpose,
  PURPOSE_PATTERN,
  SAID,
  STATES,
  type ConsentEventRow,
  type ConsentStateRow,
  type ConsentStatus,
  type Said,
} from '../../vocabulary/consents/consent.js';

const EVIDENCE_BYTES = 8_192;
const PURPOSE = {
  description:
    '`marketing`, `loyalty`, `profiling`, `analytics`, `research`, `third_party_sharing` or `custom.<slug>`.',
  pattern: PURPOSE_PATTERN,
  example: 'marketing',
};
const CHANNEL = { type: String, enum: CONSENT_CHANNELS, nullable: true, description: 'Null: all channels.' };

/** Decorators of an optional short text. */
function optionalText(
  longest: number,
  said: { description?: string; example?: string } = {},
): PropertyDecorator {
  return (target, name) => {
    ApiProperty(said)(target, name);
    MayBeAbsent()(target, name);
    MayBeNull()(target, name);
    IsString()(target, name);
    Length(1, longest)(target, name);
  };
}

/** Decorators of an optional list of short texts. */
function optionalTexts(): PropertyDecorator {
  return (target, name) => {
    ApiProperty({ type: [String], default: [] })(target, name);
    MayBeAbsent()(target, name);
    IsArray()(target, name);
    ArrayMaxSize(50)(target, name);
    IsString({ each: true })(target, name);
    Length(1, 200, { each: true })(target, name);
  };
}

/** Body of `POST /v1/core/contacts/{id}/consents`. */
export class CreateConsentDto {
  @ApiProperty(PURPOSE)
  @IsString()
  @custom('isPurpose', isPurpose, {
    message: `$property must be a purpose: ${PURPOSE.description}`,
    context: { code: 'invalid_enum' },
  })
  purpose: string;

  @ApiProperty(CHANNEL)
  @MayBeAbsent()
  @MayBeNull()
  @IsIn(CONSENT_CHANNELS)
  channel?: string | null;

  @IsIn(SAID)
  status: Said;

  @optionalText(100, { description: 'Of the notice that was shown; required to grant.', example: '2026-03' })
  notice_version?: string | null;

  @optionalText(200, { description: 'Digest of the notice that was shown.' })
  notice_hash?: string | null;

  @optionalText(60, { description: 'How it was said; required to grant.', example: 'web_form' })
  method?: string | null;

  @ApiProperty({ default: 'consent' })
  @MayBeAbsent()
  @IsString()
  @Length(1, 60)
  legal_basis?: string;

  @optionalText(20)
  jurisdiction?: string | null;

  @ApiProperty({ description: 'Proof, at most 8 KiB.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  @custom('isSmall', (value) => Buffer.byteLength(JSON.stringify(value)) <= EVIDENCE_BYTES, {
    message: `$property may have at most ${String(EVIDENCE_BYTES)} bytes`,
    context: { code: 'too_long' },
  })
  evidence?: Record<string, unknown> | null;

  @optionalTexts()
  pii_categories?: string[];

  @optionalTexts()
  recipients?: string[];

  @optionalTexts()
  storage_locations?: string[];

  @optionalText(200)
  retention?: string | null;

  @optionalText(200)
  withdrawal_method?: string | null;

  @ApiProperty({ description: 'Default now. Up to 60 s ahead is taken as now, more is refused.' })
  @MayBeAbsent()
  @IsInstant()
  occurred_at?: string;

  @ApiProperty({ description: 'Of a grant only.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsInstant()
  expires_at?: string | null;
}

/** Who recorded it. */
class ConsentActorDto {
  @ApiProperty()
  type: string;

  @ApiProperty()
  id: string;

  @ApiProperty({ type: String, nullable: true })
  impersonator_id: string | null;
}

/** What was said, as it was recorded. */
export class ConsentDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({
    format: 'uuid',
    description: 'Whose it was when it was recorded; a merge changes no history.',
  })
  contact_id: string;

  @ApiProperty(PURPOSE)
  purpose: string;

  @ApiProperty(CHANNEL)
  channel: string | null;

  @ApiProperty({ enum: SAID })
  status: Said;

  @ApiProperty({ type: String, nullable: true })
  notice_version: string | null;

  @ApiProperty({ type: String, nullable: true })
  notice_hash: string | null;

  @ApiProperty({ type: String, nullable: true })
  method: string | null;

  @ApiProperty()
  legal_basis: string;

  @ApiProperty({ type: String, nullable: true })
  jurisdiction: string | null;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true })
  evidence: Record<string, unknown> | null;

  @ApiProperty({ type: [String] })
  pii_categories: string[];

  @ApiProperty({ type: [String] })
  recipients: string[];

  @ApiProperty({ type: [String] })
  storage_locations: string[];

  @ApiProperty({ type: String, nullable: true })
  retention: string | null;

  @ApiProperty({ type: String, nullable: true })
  withdrawal_method: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expires_at: string | null;

  @ApiProperty({ format: 'date-time' })
  occurred_at: string;

  @ApiProperty({ format: 'uuid', description: 'The organization: it decides about the data.' })
  controller: string;

  @ApiProperty({ type: ConsentActorDto })
  actor: ConsentActorDto;

  @ApiProperty({ format: 'uuid' })
  correlation_id: string;

  @ApiProperty({ format: 'date-time' })
  recorded_at: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  updated_at: string;
}

/** What holds for a purpose and channel, and the event that decides it. */
export class ConsentStateDto {
  @ApiProperty(PURPOSE)
  purpose: string;

  @ApiProperty(CHANNEL)
  channel: string | null;

  @ApiProperty({ enum: STATES })
  status: ConsentStatus;

  @ApiProperty({ format: 'uuid' })
  event_id: string;

  @ApiProperty({ format: 'date-time' })
  occurred_at: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expires_at: string | null;

  @ApiProperty({ type: String, nullable: true })
  notice_version: string | null;

  @ApiProperty({ type: String, nullable: true })
  method: string | null;

  @ApiProperty()
  legal_basis: string;

  @ApiProperty({ format: 'uuid' })
  correlation_id: string;
}

/** An event as the API shows it. */
export function toConsentDto(row: ConsentEventRow): ConsentDto {
  const { actor_type: type, actor_id: id, impersonator_id, ...rest } = row;
  const recordedAt = row.recorded_at.toISOString();
  return {
    ...rest,
    expires_at: row.expires_at?.toISOString() ?? null,
    occurred_at: row.occurred_at.toISOString(),
    actor: { type, id, impersonator_id },
    recorded_at: recordedAt,
    created_at: recordedAt,
    updated_at: recordedAt,
  };
}

/** A state as the API shows it. */
export function toConsentStateDto(row: ConsentStateRow): ConsentStateDto {
  const { id: _pair, ...rest } = row;
  return {
    ...rest,
    occurred_at: row.occurred_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
  };
}

/** What `GET /v1/core/contacts/{id}/consents` takes (core.md §5, §13): the history is a timeline source. */
export const CONSENT_LIST: ListDefinition = {
  resource: 'core.consents',
  filters: {
    purpose: { type: 'string', column: 'purpose' },
    channel: { type: 'enum', column: 'channel', values: CONSENT_CHANNELS },
    status: { type: 'enum', column: 'status', values: STATES },
    correlation_id: { type: 'uuid', column: 'correlation_id' },
    occurred_at: { type: 'time', column: 'occurred_at' },
  },
  sorts: { occurred_at: { type: 'time', column: 'occurred_at' } },
  defaultSort: '-occurred_at',
  timelineSource: { occurredAt: 'occurred_at' },
  extraParameters: {
    view: {
      type: 'enum',
      values: ['states', 'history'],
      description:
        '`states` (default): what holds for each purpose and channel. `history`: all that was said.',
    },
    at: { type: 'time', description: 'What held, or had been said, at this instant; default now.' },
  },
};
