import { applyDecorators } from '@nestjs/common';
import { ApiProperty, OmitType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import {
  IsUUID,
  custom,
  IsImmutable,
  IsLocaleTag,
  IsTimeZoneName,
  MayBeAbsent,
  MayBeNull,
  PatchOf,
  SameAs,
} from '@customer-platform/http';
import { COLOR, faultOfLogo } from '../vocabulary/organizations/branding.js';
import { readMemberJwk, type MemberJwk } from '../vocabulary/organizations/member-jwk.js';
import { ORGANIZATION_STATUSES } from './organization.entity.js';
import {
  MFA_POLICIES,
  type OrganizationSettings,
} from '../vocabulary/organizations/organization-settings.js';

/** An organization is named by its id or its slug: no slug has the form of an id. */
const SLUG = /^(?!\w{8}(?:-\w{4}){3}-\w{12}$)[a-z0-9-]{3,63}$/;
const HIGHEST_RATE = 100_000;
const MOST_KEYS = 10;
const MOST_SSO_ORGANIZATIONS = 20;

/** Events per second, before queueing. */
class RateLimitsDto {
  @ApiProperty({ default: 1_000 })
  @MayBeAbsent()
  @MayBeNull()
  @IsInt()
  @Min(1)
  @Max(HIGHEST_RATE)
  key_per_second?: number | null;

  @ApiProperty({ default: 2_000 })
  @MayBeAbsent()
  @MayBeNull()
  @IsInt()
  @Min(1)
  @Max(HIGHEST_RATE)
  organization_per_second?: number | null;
}

/** How long sessions live. */
class SessionLimitsDto {
  @ApiProperty({ default: 30 })
  @MayBeAbsent()
  @MayBeNull()
  @IsInt()
  @Min(5)
  @Max(60)
  idle_minutes?: number | null;

  @ApiProperty({ default: 12 })
  @MayBeAbsent()
  @MayBeNull()
  @IsInt()
  @Min(1)
  @Max(24)
  absolute_hours?: number | null;
}

/** Public keys that verify the organization's tenant tokens. */
class MemberJwksDto {
  @ApiProperty({
    type: [Object],
    description: 'Public JWKs for RS256, ES256 or EdDSA, each with a kid of its own.',
  })
  @IsArray()
  @ArrayMaxSize(MOST_KEYS)
  @custom('areMemberKeys', (keys) => faultOf(keys) === undefined, {
    message: ({ value }: { value: unknown }) => faultOf(value) ?? '',
  })
  keys: MemberJwk[];
}

function faultOf(keys: unknown): string | undefined {
  if (!Array.isArray(keys)) return 'keys is a list of JWKs.';
  const read = keys.map(readMemberJwk);
  const fault = read.find((key) => typeof key === 'string');
  if (fault !== undefined) return fault;
  const kids = new Set((read as MemberJwk[]).map(({ kid }) => kid));
  return kids.size === keys.length ? undefined : 'Two keys have the same kid.';
}

/** How the pages of signing in look. */
class BrandingDto {
  @ApiProperty({ example: '#1d4ed8', description: 'Of buttons.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Matches(COLOR)
  color?: string | null;

  @ApiProperty({
    type: 'string',
    maxLength: 500,
    example: 'https://tienda.example/logo.svg',
    description: 'An https address, from which browsers load it; shown 48 px high.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @custom('isLogoUrl', (url) => faultOfLogo(url) === undefined, {
    message: ({ value }: { value: unknown }) => faultOfLogo(value) ?? '',
  })
  logo_url?: string | null;
}

const LONGEST_DAYS = 3_650;

/** A period in days; null: kept. */
function Days(description: string, fewest: number, most = LONGEST_DAYS): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'integer', nullable: true, default: null, description }),
    MayBeAbsent(),
    MayBeNull(),
    IsInt(),
    Min(fewest),
    Max(most),
  );
}

/** For how long things are kept, in days. */
class RetentionDto {
  @Days('Events, from when they were accepted. What repeats them is known as a repeat for ever.', 7)
  events_days?: number | null;

  @Days('What dead letters hold, from when they failed last: one that waited is closed.', 1)
  dead_letters_days?: number | null;

  @Days(
    'Subject and metadata of sends that have ended, and messages in inboxes, from when they were asked for.',
    7,
  )
  sends_days?: number | null;

  @Days('Deliveries to webhook endpoints that have ended. Without it they are kept for 14 days.', 7, 14)
  webhook_deliveries_days?: number | null;
}

/** Settings as a body gives them; null clears, and the default holds again. */
export class SettingsDto {
  @ApiProperty({
    description:
      'Set by ancestors only, never above their own; shown as they hold with theirs, which it uses up too.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  @ValidateNested()
  @Type(() => RateLimitsDto)
  rate_limits?: RateLimitsDto | null;

  @ApiProperty({
    description:
      'Who is asked for a second factor: nobody, at sign-in those assigned `owner` (the default in production), or ' +
      'everybody. To ask fewer takes all that `owner` holds.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsIn(MFA_POLICIES)
  mfa_policy?: OrganizationSettings['mfa_policy'] | null;

  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  @ValidateNested()
  @Type(() => SessionLimitsDto)
  session?: SessionLimitsDto | null;

  @ApiProperty({
    description: 'Set by the organization itself only, by who holds `core.members.exchange`.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  @ValidateNested()
  @Type(() => MemberJwksDto)
  member_jwks?: MemberJwksDto | null;

  @ApiProperty({ description: 'Of the pages by which people sign in to the organization’s clients.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  @ValidateNested()
  @Type(() => BrandingDto)
  branding?: BrandingDto | null;

  @ApiProperty({
    description:
      'For how long things are kept; what is older is removed for good. Set by the organization itself, or when it is founded. ' +
      'A period that is new or shorter takes `identity.organizations.purge`, and counts after a day.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  @ValidateNested()
  @Type(() => RetentionDto)
  retention?: RetentionDto | null;

  @ApiProperty({
    type: [String],
    description:
      'Organizations whose SSO connections let people act here, too; else those of its own alone do. Set by the ' +
      'organization itself, or when it is founded; to add one takes all that `owner` holds.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsArray()
  @ArrayMaxSize(MOST_SSO_ORGANIZATIONS)
  @IsUUID({ each: true })
  sso_organizations?: string[] | null;
}

/** What `POST /v1/identity/organizations` takes: an organization below the caller's. */
export class CreateOrganizationDto {
  @ApiProperty({ example: 'Tiendas del Sur' })
  @IsString()
  @Length(1, 80)
  name: string;

  @ApiProperty({ minLength: 3, maxLength: 63, example: 'tiendas-del-sur' })
  @IsString()
  @Matches(SLUG)
  slug: string;

  @ApiProperty({ example: 'es-CL', description: 'A language tag; the parent’s unless given.' })
  @MayBeAbsent()
  @IsLocaleTag()
  locale?: string;

  @ApiProperty({ example: 'America/Santiago', description: 'IANA name; the parent’s unless given.' })
  @MayBeAbsent()
  @IsTimeZoneName()
  timezone?: string;

  @MayBeAbsent()
  @IsObject()
  @ValidateNested()
  @Type(() => SettingsDto)
  settings?: SettingsDto;

  @ApiProperty({
    default: false,
    description: 'Issues a key of the machine role owner with it.',
  })
  @MayBeAbsent()
  @IsBoolean()
  issue_api_key?: boolean;

  @IsImmutable()
  parent_id?: unknown;

  @IsImmutable()
  status?: unknown;
}

/** What `PATCH /v1/identity/organizations/{id}` takes: JSON merge. */
export class UpdateOrganizationDto extends PatchOf(
  OmitType(CreateOrganizationDto, ['issue_api_key', 'status']),
  { immutable: ['slug'] },
) {
  @ApiProperty({ description: 'Set by ancestors only.' })
  @MayBeAbsent()
  @IsIn(ORGANIZATION_STATUSES)
  status?: (typeof ORGANIZATION_STATUSES)[number];
}

/** An organization as it is answered, its settings with what holds where it says nothing. */
export class OrganizationDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, description: 'Null for the root.' })
  parent_id: string | null;
  @SameAs(CreateOrganizationDto) name: string;
  @ApiProperty({ example: 'tiendas-del-sur' }) slug: string;
  @ApiProperty({ enum: ORGANIZATION_STATUSES }) status: (typeof ORGANIZATION_STATUSES)[number];
  @ApiProperty({ example: 'es-CL' }) locale: string;
  @ApiProperty({ example: 'America/Santiago' }) timezone: string;
  @ApiProperty({ type: SettingsDto }) settings: OrganizationSettings;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

/** The first key of a new organization. */
class FirstApiKeyDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ example: 'cpk_live_4f9a' }) prefix: string;
  @ApiProperty({ description: 'Shown this once.', example: `cpk_live_${'0'.repeat(38)}` }) key: string;
}

/** An organization as it is answered when created. */
export class CreatedOrganizationDto extends OrganizationDto {
  @ApiProperty({ required: false, type: FirstApiKeyDto, description: 'Where `issue_api_key` was true.' })
  api_key?: FirstApiKeyDto;
}
