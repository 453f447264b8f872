import { ApiProperty, OmitType } from '@nestjs/swagger';
import { Equals, IsIn, IsString, Length } from 'class-validator';
import {
  IsImmutable,
  IsLocaleTag,
  MayBeAbsent,
  MayBeNull,
  PatchOf,
  SameAs,
  type ListDefinition,
} from '@customer-platform/http';
import { IsEmailAddress } from '../vocabulary/is-email-address.js';
import { USER_STATUSES, type User } from './user.entity.js';

/** What a caller sets; `invited` is where a user begins. */
const SETTABLE = ['active', 'suspended'] as const;

/** What only the server sets. */
class UserServerFields {
  @IsImmutable() email_verified?: unknown;
  @IsImmutable() mfa_enabled?: unknown;
  @IsImmutable() last_sign_in_at?: unknown;
  @IsImmutable() organization_id?: unknown;
}

/** What `POST /v1/identity/users` takes. It gives no membership. */
export class CreateUserDto extends UserServerFields {
  @ApiProperty({ example: 'ana@example.com' })
  @IsEmailAddress()
  email: string;

  @ApiProperty({ example: 'Ana Rojas' })
  @IsString()
  @Length(1, 80)
  name: string;

  @ApiProperty({ example: 'es-CL' })
  @MayBeAbsent()
  @MayBeNull()
  @IsLocaleTag()
  locale?: string | null;

  @IsImmutable()
  status?: unknown;
}

/** What `PATCH /v1/identity/users/{id}` takes: JSON merge. */
export class UpdateUserDto extends PatchOf(OmitType(CreateUserDto, ['status'])) {
  @ApiProperty({ description: 'Only while the user is `invited`.' })
  declare email?: string;

  @ApiProperty({ description: 'Suspension ends all sessions.' })
  @MayBeAbsent()
  @IsIn(SETTABLE)
  status?: (typeof SETTABLE)[number];

  @ApiProperty({
    type: 'boolean',
    enum: [true],
    description: 'Removes all factors and recovery codes, and ends all sessions.',
  })
  @MayBeAbsent()
  @Equals(true)
  reset_mfa?: true;
}

/** A user as it is answered. */
export class UserDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @SameAs(CreateUserDto) email: string;
  @SameAs(CreateUserDto) name: string;
  @ApiProperty({ type: 'string', nullable: true, example: 'es-CL' }) locale: string | null;
  @ApiProperty({ enum: USER_STATUSES }) status: (typeof USER_STATUSES)[number];
  @ApiProperty() email_verified: boolean;
  @ApiProperty() mfa_enabled: boolean;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) last_sign_in_at: string | null;
  @ApiProperty({ format: 'uuid', description: 'The home, which alone changes the user.' })
  organization_id: string;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

/** `GET /v1/identity/users` (identity.md §9). */
export const USERS_LIST: ListDefinition = {
  resource: 'identity.users',
  filters: {
    id: { type: 'uuid', column: 'id', ops: ['eq', 'in'] },
    status: { type: 'enum', column: 'status', values: USER_STATUSES },
    email: { type: 'string', column: 'email', description: 'In lower case.' },
    name: {
      type: 'string',
      column: 'name',
      prefixColumn: 'lower(name)',
      ops: ['eq', 'ne', 'in', 'prefix'],
    },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name', byLanguage: true },
    email: { type: 'string', column: 'email' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

/** Changes that users make of their own account. */
export interface OwnChanges {
  readonly name?: string;
  readonly locale?: string | null;
  readonly timezone?: string | null;
}

/** A user with what other tables know of them. */
export interface SeenUser {
  readonly user: User;
  readonly mfaEnabled: boolean;
}

export function toUserDto({ user, mfaEnabled }: SeenUser): UserDto {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    locale: user.locale,
    status: user.status,
    email_verified: user.emailVerified,
    mfa_enabled: mfaEnabled,
    last_sign_in_at: user.lastSignInAt?.toISOString() ?? null,
    organization_id: user.organizationId,
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
    deleted_at: user.deletedAt?.toISOString() ?? null,
  };
}
