import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent } from '@customer-platform/http';
import { IsIn, IsString, Length } from 'class-validator';
import { MEMBER_TOKEN_LIFE_S } from './member-tokens.js';
import { MEMBER_AUDIENCE } from './tenant-assertions.js';

/** RFC 8693 §2.1. */
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Kinds of tokens (RFC 8693 §3), and ours: the person's id in the organization's own system. */
export const TOKEN_TYPES = {
  accessToken: 'urn:ietf:params:oauth:token-type:access_token',
  externalId: 'urn:customer-platform:token-type:external-id',
  jwt: 'urn:ietf:params:oauth:token-type:jwt',
} as const;

const SUBJECT_TYPES = [TOKEN_TYPES.externalId, TOKEN_TYPES.jwt];

/** Body of `POST /v1/core/members/token-exchange`, as JSON or as a form. */
export class TokenExchangeDto {
  @IsIn([TOKEN_EXCHANGE])
  grant_type: string;

  @ApiProperty({
    description: 'The external id of a contact, or a JWT that says it.',
    example: 'customer-1042',
  })
  @IsString()
  @Length(1, 8_192)
  subject_token: string;

  @ApiProperty({ description: 'An external id needs an API key in the header; a JWT needs none.' })
  @IsIn(SUBJECT_TYPES)
  subject_token_type: string;

  @MayBeAbsent()
  @IsIn([MEMBER_AUDIENCE])
  audience?: string;
}

/** A member token (RFC 8693 §2.2.1). */
export class MemberTokenDto {
  @ApiProperty({ description: 'ES256 JWT for the Member API.' })
  access_token: string;

  @ApiProperty({ enum: [TOKEN_TYPES.accessToken] })
  issued_token_type: string;

  @ApiProperty({ enum: ['Bearer'] })
  token_type: 'Bearer';

  @ApiProperty({ type: 'integer', description: 'In seconds.', enum: [MEMBER_TOKEN_LIFE_S] })
  expires_in: number;
}
