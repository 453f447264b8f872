import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsInt, IsString, Length, Max, Min } from 'class-validator';
import {
  IsImmutable,
  IsLocaleTag,
  IsUUID,
  IsWithoutRepeats,
  MayBeAbsent,
  MayBeNull,
  SameAs,
  type ListDefinition,
} from '@customer-platform/http';
import { IsEmailAddress } from '../vocabulary/is-email-address.js';
import { IsPassword } from '../vocabulary/is-password.js';

/** States of an invitation (identity.md §3). */
const INVITATION_STATUSES = ['pending', 'accepted', 'expired', 'revoked'] as const;

/** A state of an invitation. */
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

const HOUR_S = 3_600;
const WEEK_S = 604_800;
const MONTH_S = 2_592_000;
const MOST_ROLES = 20;

const TIME = { type: 'string', format: 'date-time', nullable: true } as const;

/** What `POST /v1/identity/invitations` takes. */
export class CreateInvitationDto {
  @ApiProperty({ example: 'ana@example.com' })
  @IsEmailAddress()
  email: string;

  @ApiProperty({
    type: [String],
    default: [],
    description: 'Roles for people, whose permissions the caller holds.',
  })
  @MayBeAbsent()
  @IsArray()
  @ArrayMaxSize(MOST_ROLES)
  @IsUUID({ each: true })
  @IsWithoutRepeats((id: unknown) => (typeof id === 'string' ? id.toLowerCase() : id))
  role_ids?: string[];

  @ApiProperty({ example: 'es-CL', description: 'Of the mail; the organization’s unless given.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsLocaleTag()
  locale?: string | null;

  @ApiProperty({ default: WEEK_S, description: 'Seconds until it expires; after a resend so many again.' })
  @MayBeAbsent()
  @IsInt()
  @Min(HOUR_S)
  @Max(MONTH_S)
  expires_in: number = WEEK_S;

  @IsImmutable() status?: unknown;
  @IsImmutable() expires_at?: unknown;
  @IsImmutable() accepted_at?: unknown;
}

/** An invitation as it is answered. Its token goes to the address invited and nowhere else. */
export class InvitationDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @SameAs(CreateInvitationDto) email: string;
  @ApiProperty({ type: [String], format: 'uuid' }) role_ids: string[];
  @ApiProperty({ type: 'string', nullable: true, example: 'es-CL' }) locale: string | null;
  @ApiProperty({ enum: INVITATION_STATUSES }) status: InvitationStatus;
  @ApiProperty({ format: 'date-time' }) expires_at: string;
  @ApiProperty(TIME) accepted_at: string | null;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
}

/** What `POST /v1/identity/invitations/accept` takes. */
export class AcceptInvitationDto {
  @ApiProperty({ description: 'From the link of the invitation; it works once.', example: 'inv_AAAA' })
  @IsString()
  token: string;

  @ApiProperty({
    example: 'Ana Rojas',
    description: 'Required of who is new; whoever has an account keeps its name.',
  })
  @MayBeAbsent()
  @IsString()
  @Length(1, 80)
  name?: string;

  @MayBeAbsent()
  @IsPassword({
    description:
      'Required of who is new, and of nobody else. Any characters, but none that is easy to guess.',
  })
  password?: string;
}

/** An accepted invitation, with a token for who is new. */
export class AcceptedInvitationDto extends InvitationDto {
  @ApiProperty({
    required: false,
    description: 'An access token of a new session, for who had no account before; shown this once.',
  })
  access_token?: string;
}

/** `GET /v1/identity/invitations` (identity.md §9). */
export const INVITATIONS_LIST: ListDefinition = {
  resource: 'identity.invitations',
  filters: {
    status: { type: 'enum', column: 'status', values: INVITATION_STATUSES },
    email: { type: 'string', column: 'email', description: 'In lower case.' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    expires_at: { type: 'time', column: 'expires_at' },
  },
  defaultSort: '-created_at',
};
