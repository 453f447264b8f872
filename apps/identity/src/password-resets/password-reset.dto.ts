import { ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { IsLocaleTag, MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { IsEmailAddress } from '../vocabulary/is-email-address.js';
import { IsPassword } from '../vocabulary/is-password.js';

/** What `POST /v1/identity/password-resets` takes. */
export class RequestPasswordResetDto {
  @ApiProperty({ example: 'ana@example.com' })
  @IsEmailAddress()
  email: string;

  @ApiProperty({
    example: 'es-CL',
    description: 'Of the mail; the user’s own unless given, then the organization’s.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsLocaleTag()
  locale?: string | null;
}

/** What `POST /v1/identity/password-resets/confirm` takes. */
export class ConfirmPasswordResetDto {
  @ApiProperty({ description: 'From the link of the mail; it works once.', example: 'pwr_AAAA' })
  @IsString()
  token: string;

  @IsPassword({ description: 'Any characters, but none that is easy to guess.' })
  password: string;
}

/** Nothing: an answer that tells nothing. */
export class EmptyDto {}
