import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import {
  IsImmutable,
  IsUUID,
  IsWithoutRepeats,
  MayBeAbsent,
  MayBeNull,
  PatchOf,
  SameAs,
  type ListDefinition,
} from '@customer-platform/http';
import {
  CLIENT_TYPES,
  GRANT_TYPES,
  SERVED,
  type GrantType,
  type OAuthClient,
} from './oauth-client.entity.js';

const MOST_URIS = 20;
const LONGEST_URI = 2_048;
const GRACE_S = 10;

const REDIRECT_URIS = {
  type: 'string',
  isArray: true,
  example: ['https://app.example/callback'] as string[],
  description:
    'Compared character by character. https; for a public client also http to this very machine (`127.0.0.1`, `[::1]`, ' +
    '`localhost`) and private-use schemes (`com.example.app:/callback`), and where it has no https any port of this ' +
    'machine. No wildcard, no fragment.',
} as const;

/** What `POST /v1/identity/oauth-clients` takes. */
export class CreateOAuthClientDto {
  @ApiProperty({ example: 'Console' })
  @IsString()
  @Length(1, 80)
  name: string;

  @ApiProperty({ description: 'Whether it can keep a secret; a public one cannot.' })
  @IsIn(CLIENT_TYPES)
  type: (typeof CLIENT_TYPES)[number];

  @ApiProperty({ isArray: true, enum: GRANT_TYPES, default: ['authorization_code', 'refresh_token'] })
  @MayBeAbsent()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(GRANT_TYPES.length)
  @IsWithoutRepeats()
  @IsIn(GRANT_TYPES, { each: true })
  grant_types?: GrantType[];

  @ApiProperty({ ...REDIRECT_URIS, default: [] })
  @MayBeAbsent()
  @IsArray()
  @ArrayMaxSize(MOST_URIS)
  @IsWithoutRepeats()
  @IsString({ each: true })
  @MaxLength(LONGEST_URI, { each: true })
  redirect_uris?: string[];

  @ApiProperty({ ...REDIRECT_URIS, example: ['https://app.example/'] as string[], default: [] })
  @MayBeAbsent()
  @IsArray()
  @ArrayMaxSize(MOST_URIS)
  @IsWithoutRepeats()
  @IsString({ each: true })
  @MaxLength(LONGEST_URI, { each: true })
  post_logout_redirect_uris?: string[];

  @ApiProperty({ default: true, description: 'Always true of a public client.' })
  @MayBeAbsent()
  @IsBoolean()
  require_pkce?: boolean;

  @ApiProperty({ default: 'own', description: '`tree`: people of all organizations below as well.' })
  @MayBeAbsent()
  @IsIn(SERVED)
  organizations?: (typeof SERVED)[number];

  @ApiProperty({
    description:
      'A machine role whose permissions the caller holds; for `client_credentials`, and only for that.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsUUID()
  role_id?: string | null;

  @ApiProperty({ default: 0, description: 'So long a refresh token that was used is taken once more.' })
  @MayBeAbsent()
  @IsInt()
  @Min(0)
  @Max(GRACE_S)
  refresh_grace_seconds?: number;

  @IsImmutable()
  client_secret?: unknown;
}

/** What `PATCH /v1/identity/oauth-clients/{id}` takes: JSON merge. */
export class UpdateOAuthClientDto extends PatchOf(CreateOAuthClientDto, { immutable: ['type'] }) {
  @ApiProperty({
    description:
      'True: a new secret, shown in this answer alone. The former, and every token of the client, end at once.',
  })
  @MayBeAbsent()
  @IsBoolean()
  rotate_secret?: boolean;
}

/** A client as it is answered. */
export class OAuthClientDto {
  @ApiProperty({ format: 'uuid', description: 'The `client_id` of the protocol.' }) id: string;
  @SameAs(CreateOAuthClientDto) name: string;
  @ApiProperty({ enum: CLIENT_TYPES }) type: (typeof CLIENT_TYPES)[number];
  @ApiProperty({ enum: GRANT_TYPES, isArray: true }) grant_types: GrantType[];
  @ApiProperty(REDIRECT_URIS) redirect_uris: string[];
  @ApiProperty(REDIRECT_URIS) post_logout_redirect_uris: string[];
  @ApiProperty() require_pkce: boolean;
  @ApiProperty({ enum: SERVED }) organizations: (typeof SERVED)[number];
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true }) role_id: string | null;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: GRACE_S }) refresh_grace_seconds: number;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

/** A client with its secret. */
export class OAuthClientWithSecretDto extends OAuthClientDto {
  @ApiProperty({
    required: false, // public clients have none, a replayed answer leaves it out, a PATCH shows a new one only
    description: 'Of a confidential client, shown this once.',
    example: 'cps_CVIAUqCAF5Rk1vmFZqcPQTtdGC0UNmPZKbsIAXXwTXo',
  })
  client_secret?: string;
}

/** `GET /v1/identity/oauth-clients` (identity.md §9). */
export const OAUTH_CLIENTS_LIST: ListDefinition = {
  resource: 'identity.oauth_clients',
  filters: {
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'ne', 'in', 'prefix'] },
    type: { type: 'enum', column: 'type', values: CLIENT_TYPES },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name', byLanguage: true },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

/** A client, with its secret where it has a new one. */
export interface ShownClient {
  readonly client: OAuthClient;
  readonly secret?: string;
}

/** A client without its secret. */
export function toOAuthClientDto(client: OAuthClient): OAuthClientDto {
  return {
    id: client.id,
    name: client.name,
    type: client.type,
    grant_types: client.grantTypes,
    redirect_uris: client.redirectUris,
    post_logout_redirect_uris: client.postLogoutRedirectUris,
    require_pkce: client.requirePkce,
    organizations: client.organizations,
    role_id: client.roleId,
    refresh_grace_seconds: client.refreshGraceSeconds,
    created_at: client.createdAt.toISOString(),
    updated_at: client.updatedAt.toISOString(),
    deleted_at: client.deletedAt?.toISOString() ?? null,
  };
}

/** A client with the secret that it has just been given. */
export function toShownClientDto({ client, secret }: ShownClient): OAuthClientWithSecretDto {
  return { ...toOAuthClientDto(client), ...(secret === undefined ? {} : { client_secret: secret }) };
}
