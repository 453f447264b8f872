import { ApiProperty, OmitType, PickType } from '@nestjs/swagger';
import { IsString, Length } from 'class-validator';
import { IsImmutable, IsTimeZoneName, MayBeAbsent, MayBeNull, PatchOf } from '@customer-platform/http';
import { IsPassword } from '../vocabulary/is-password.js';
import { CreateUserDto, toUserDto, UserDto, type SeenUser } from '../users/user.dto.js';

/** Longer ones are nobody's. */
const LONGEST_GIVEN = 1_024;

/** The fields that a person sets of the own account. */
class AccountFields extends PickType(CreateUserDto, ['name', 'locale']) {
  @ApiProperty({ type: 'string', example: 'America/Santiago' })
  @MayBeAbsent()
  @MayBeNull()
  @IsTimeZoneName()
  timezone?: string | null;
}

/** Body of `PATCH /v1/identity/users/me`: JSON merge. */
export class UpdateAccountDto extends PatchOf(AccountFields) {
  @IsImmutable() email?: unknown;
  @IsImmutable() status?: unknown;
  @IsImmutable() email_verified?: unknown;
  @IsImmutable() mfa_enabled?: unknown;
  @IsImmutable() has_password?: unknown;
  @IsImmutable() last_sign_in_at?: unknown;
  @IsImmutable() organization_id?: unknown;
}

/** The calling user, as they see themselves. */
export class AccountDto extends OmitType(UserDto, ['deleted_at']) {
  @ApiProperty({ type: 'string', nullable: true, example: 'America/Santiago' }) timezone: string | null;
  @ApiProperty({ description: 'Whether a change of the password asks for the present one.' })
  has_password: boolean;
}

/** Body of `POST /v1/identity/users/me/password`. */
export class ChangePasswordDto {
  @ApiProperty({ type: 'string', writeOnly: true, description: 'The present one, of whom has any.' })
  @MayBeAbsent()
  @IsString()
  @Length(1, LONGEST_GIVEN)
  current_password?: string;

  @IsPassword({ description: 'Any characters, but none that is easy to guess, and not the present one.' })
  password: string;
}

/** A user with what only the user is shown. */
export interface OwnUser extends SeenUser {
  readonly hasPassword: boolean;
}

export function toAccountDto({ hasPassword, ...seen }: OwnUser): AccountDto {
  const { deleted_at: _, ...shown } = toUserDto(seen);
  return { ...shown, timezone: seen.user.timezone, has_password: hasPassword };
}
