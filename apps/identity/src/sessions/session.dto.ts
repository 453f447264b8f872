import { ApiProperty } from '@nestjs/swagger';
import type { ListDefinition } from '@customer-platform/http';

/** States of a session (identity.md §5). */
const SESSION_STATUSES = ['active', 'ended'] as const;

/** Why a session ended (identity.md §5). */
const ENDED_REASONS = [
  'logout',
  'revoked',
  'idle',
  'absolute',
  'password_changed',
  'mfa_changed',
  'user_disabled',
  'membership_ended',
  'token_reuse',
] as const;

/** Why a session ended. */
export type EndedReason = (typeof ENDED_REASONS)[number];

const TEXT = { type: 'string', nullable: true } as const;
const TIME = { type: 'string', format: 'date-time', nullable: true } as const;

/** From where a session was begun. */
class DeviceDto {
  @ApiProperty({ ...TEXT, example: 'Firefox 145.0' }) browser: string | null;
  @ApiProperty({ ...TEXT, example: 'Linux' }) os: string | null;
  @ApiProperty({ ...TEXT, example: 'desktop' }) type: string | null;
}

/** Who acts as the session's user, and why. */
class SessionImpersonationDto {
  @ApiProperty({ format: 'uuid' }) actor_id: string;
  @ApiProperty() reason: string;
}

/** A session as it is answered, or an impersonation of its user. */
export class SessionDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ format: 'uuid' }) user_id: string;
  @ApiProperty({ ...TEXT, description: 'The OAuth client that it was begun for.' }) client_id: string | null;
  @ApiProperty({ type: [String], example: ['pwd', 'otp', 'mfa'], description: 'RFC 8176.' }) amr: string[];
  @ApiProperty({ format: 'date-time' }) authenticated_at: string;
  @ApiProperty({ format: 'date-time' }) last_seen_at: string;
  @ApiProperty({ format: 'date-time' }) idle_expires_at: string;
  @ApiProperty({ format: 'date-time' }) expires_at: string;
  @ApiProperty(TEXT) ip: string | null;
  @ApiProperty(TEXT) user_agent: string | null;
  @ApiProperty({ type: DeviceDto }) device: DeviceDto;
  @ApiProperty({
    type: SessionImpersonationDto,
    nullable: true,
    description: 'Of an entry in which somebody else acts as the user; its `amr` is theirs.',
  })
  impersonation: SessionImpersonationDto | null;
  @ApiProperty({ description: 'Whether the request was made in it.' }) current: boolean;
  @ApiProperty({ enum: SESSION_STATUSES }) status: (typeof SESSION_STATUSES)[number];
  @ApiProperty({ ...TEXT, enum: ENDED_REASONS }) ended_reason: EndedReason | null;
  @ApiProperty(TIME) ended_at: string | null;
  @ApiProperty({ format: 'date-time' }) created_at: string;
}

/** `GET /v1/identity/sessions` (identity.md §9). */
export const SESSIONS_LIST: ListDefinition = {
  resource: 'identity.sessions',
  filters: {
    user_id: { type: 'uuid', column: 'user_id' },
    status: { type: 'enum', column: 'status', values: SESSION_STATUSES },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    last_seen_at: { type: 'time', column: 'last_seen_at' },
  },
  defaultSort: '-created_at',
};
