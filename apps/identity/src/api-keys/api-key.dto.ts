import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsString, Length, Max, Min } from 'class-validator';
import {
  IsUUID,
  custom,
  IsInstant,
  MayBeAbsent,
  MayBeNull,
  type ListDefinition,
} from '@customer-platform/http';

/** States of a key (identity.md §6). */
const API_KEY_STATUSES = ['active', 'expiring', 'expired', 'revoked'] as const;

/** A state of a key. */
export type ApiKeyStatus = (typeof API_KEY_STATUSES)[number];

const WEEK_S = 604_800;
const DAY_S = 86_400;
/** A key lives two years at most, calendar years in UTC. */
const MOST_YEARS = 2;

/** Whether a key may end then: later than now, within two years. */
function isNearFuture(value: unknown): boolean {
  const at = typeof value === 'string' ? Date.parse(value) : NaN;
  const last = new Date();
  last.setUTCFullYear(last.getUTCFullYear() + MOST_YEARS);
  return at > Date.now() && at <= last.getTime();
}

/** Body of `POST /v1/identity/api-keys`. */
export class CreateApiKeyDto {
  @ApiProperty({ example: 'Shop backend' })
  @IsString()
  @Length(1, 80)
  name: string;

  @ApiProperty({ description: 'A machine role whose permissions the caller holds.' })
  @IsUUID()
  role_id: string;

  @ApiProperty({ description: 'Within two years; null, the default: no end.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsInstant()
  @custom('isNearFuture', isNearFuture, {
    message: '$property must lie ahead, by two years at most',
    context: { code: 'out_of_range' },
  })
  expires_at?: string | null;
}

/** Body of `POST /v1/identity/api-keys/{id}/rotate`; it may be absent. */
export class RotateApiKeyDto {
  @ApiProperty({
    default: DAY_S,
    description: 'Seconds that the former key still works, or until its own end if that is earlier.',
  })
  @MayBeAbsent()
  @IsInt()
  @Min(0)
  @Max(WEEK_S)
  expires_in: number = DAY_S;
}

/** An API key without itself. */
export class ApiKeyDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: 'Shop backend' })
  name: string;

  @ApiProperty({ format: 'uuid' })
  role_id: string;

  @ApiProperty({ description: 'The first 13 characters of the key.', example: 'cpk_live_4f9a' })
  prefix: string;

  @ApiProperty({ enum: API_KEY_STATUSES })
  status: ApiKeyStatus;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true })
  expires_at: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'Right within 60 s.' })
  last_used_at: string | null;

  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, description: 'The key that it replaced.' })
  rotated_from_id: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  updated_at: string;
}

/** A key as it was issued. */
export class IssuedApiKeyDto extends ApiKeyDto {
  @ApiProperty({
    required: false, // a replayed answer leaves it out
    description: 'The key itself, shown this once.',
    example: `cpk_live_${'0'.repeat(38)}`,
  })
  key: string;
}

/** `GET /v1/identity/api-keys` (identity.md §9). */
export const API_KEY_LIST: ListDefinition = {
  resource: 'api-keys',
  filters: {
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'ne', 'in', 'prefix'] },
    prefix: { type: 'string', column: 'prefix', ops: ['eq'] },
    role_id: { type: 'uuid', column: 'role_id' },
    status: { type: 'enum', column: 'status', values: API_KEY_STATUSES },
  },
  sorts: {
    created_at: { column: 'created_at', type: 'time' },
    name: { column: 'name', type: 'string', byLanguage: true },
    last_used_at: { column: 'last_used_at', type: 'time', nulls: 'last' },
  },
  defaultSort: '-created_at',
};
