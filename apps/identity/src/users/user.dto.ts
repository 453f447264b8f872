import { ApiProperty } from '@nestjs/swagger';
import { Equals, IsEmail, IsIn, IsString, Length, MaxLength } from 'class-validator';
import { IsImmutable, IsLocaleTag, MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { USER_STATUSES } from './user.entity.js';

const EMAIL = { format: 'email', maxLength: 254, example: 'ana@example.com' } as const;
const NAME = { minLength: 1, maxLength: 80, example: 'Ana Rojas' } as const;
const LOCALE = { type: 'string', nullable: true, example: 'es-CL' } as const;
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
  @ApiProperty(EMAIL)
  @IsString()
  @MaxLength(254)
  @IsEmail({ ignore_max_length: true })
  email: string;

  @ApiProperty(NAME)
  @IsString()
  @Length(1, 80)
  name: string;

  @ApiProperty({ ...LOCALE, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsLocaleTag()
  locale?: string | null;

  @IsImmutable()
  status?: unknown;
}

/** What `PATCH /v1/identity/users/{id}` takes: JSON merge. */
export class UpdateUserDto extends UserServerFields {
  @ApiProperty({ ...EMAIL, required: false, description: 'Only while the user is `invited`.' })
  @MayBeAbsent()
  @IsString()
  @MaxLength(254)
  @IsEmail({ ignore_max_length: true })
  email?: string;

  @ApiProperty({ ...NAME, required: false })
  @MayBeAbsent()
  @IsString()
  @Length(1, 80)
  name?: string;

  @ApiProperty({ ...LOCALE, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsLocaleTag()
  locale?: string | null;

  @ApiProperty({ required: false, enum: SETTABLE, description: 'Suspension ends all sessions.' })
  @MayBeAbsent()
  @IsIn(SETTABLE)
  status?: (typeof SETTABLE)[number];

  @ApiProperty({
    required: false,
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
  @ApiProperty(EMAIL) email: string;
  @ApiProperty(NAME) name: string;
  @ApiProperty(LOCALE) locale: string | null;
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
