import { ApiProperty, OmitType } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsString,
  Length,
  Matches,
} from 'class-validator';
import {
  IsUUID,
  custom,
  IsImmutable,
  IsWithoutRepeats,
  MayBeAbsent,
  PatchOf,
  SameAs,
  type ListDefinition,
} from '@customer-platform/http';
import { domainName } from '../vocabulary/domain-name.js';
import type { HeldDomains } from './domain-claims.js';
import type { DomainProof } from './domain-proofs.js';
import { SSO_STATUSES, type SsoConnection } from './sso-connection.entity.js';

const SETTABLE = ['active', 'inactive'] as const;
const MOST_DOMAINS = 20;
const MOST_ROLES = 20;
/** What travels in a header or a form as it is (RFC 6749, appendix A). */
const VISIBLE = /^[\x20-\x7e]+$/;

const isDomain = (value: unknown): boolean => typeof value === 'string' && domainName(value) !== undefined;
const areDomains = (value: unknown): boolean => Array.isArray(value) && value.every(isDomain);
/** Written in two ways it is one domain all the same. */
const areDifferent = (value: unknown): boolean =>
  !areDomains(value) || new Set((value as string[]).map(domainName)).size === (value as string[]).length;

/** What only the server sets. */
class SsoConnectionServerFields {
  @IsImmutable() redirect_uri?: unknown;
  @IsImmutable() domain_proofs?: unknown;
}

/** What `POST /v1/identity/sso-connections` takes. */
export class CreateSsoConnectionDto extends SsoConnectionServerFields {
  @ApiProperty({ example: 'Okta' })
  @IsString()
  @Length(1, 80)
  name: string;

  @ApiProperty({ description: 'OpenID Connect.' })
  @IsIn(['oidc'])
  protocol: 'oidc';

  @ApiProperty({
    description:
      'The issuer exactly as its discovery document has it: https, to public addresses only; in local mode also this machine, by http too.',
    example: 'https://example.okta.com',
  })
  @IsString()
  @Length(1, 2_048)
  issuer: string;

  @ApiProperty({ example: '0oa1b2c3d4' })
  @IsString()
  @Length(1, 255)
  @Matches(VISIBLE, { message: '$property must hold visible ASCII characters only' })
  client_id: string;

  @ApiProperty({
    description: 'Written and never read.',
    writeOnly: true,
    example: 'a-secret-of-the-provider',
  })
  @IsString()
  @Length(1, 1_024)
  @Matches(VISIBLE, { message: '$property must hold visible ASCII characters only' })
  client_secret: string;

  @ApiProperty({
    description: 'Whose people sign in here: domains of e-mail addresses, without those below them.',
    example: ['example.com'],
  })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_DOMAINS)
  @IsString({ each: true })
  @custom('areDomains', areDomains, { message: '$property must hold domains such as example.com' })
  @custom('areDifferent', areDifferent, {
    message: '$property must not repeat a domain',
    context: { code: 'duplicate_item' },
  })
  domains: string[];

  @ApiProperty({
    default: false,
    description: 'True: no password for addresses of these domains, save of an `owner` with a second factor.',
  })
  @MayBeAbsent()
  @IsBoolean()
  enforced?: boolean;

  @ApiProperty({
    default: false,
    description: 'True: who comes for the first time becomes a user and a member.',
  })
  @MayBeAbsent()
  @IsBoolean()
  jit?: boolean;

  @ApiProperty({
    type: [String],
    default: [],
    description:
      'Roles for people, not `owner`, that such a member is given; the caller holds what they permit.',
  })
  @MayBeAbsent()
  @IsArray()
  @ArrayMaxSize(MOST_ROLES)
  @IsUUID({ each: true })
  @IsWithoutRepeats()
  jit_role_ids?: string[];

  @IsImmutable()
  status?: unknown;
}

/** What `PATCH /v1/identity/sso-connections/{id}` takes: JSON merge. */
export class UpdateSsoConnectionDto extends PatchOf(OmitType(CreateSsoConnectionDto, ['status']), {
  immutable: ['protocol'],
}) {
  @ApiProperty({
    description:
      'To `active`: each domain is proven and leads to no other connection. To `inactive`: its sessions end.',
  })
  @MayBeAbsent()
  @IsIn(SETTABLE)
  status?: (typeof SETTABLE)[number];
}

/** What has become of a proof. */
const PROOF_STATUSES = ['pending', 'proven', 'failing', 'failed'] as const;
type ProofStatus = (typeof PROOF_STATUSES)[number];

/** The record that proves a domain. */
export class DomainProofDto {
  @ApiProperty({ example: 'example.com' }) domain: string;
  @ApiProperty({ description: 'Name of the TXT record.', example: '_customer-platform.example.com' })
  name: string;
  @ApiProperty({
    description: 'Its text, another one for each issuer and client.',
    example: `customer-platform-verification=${'x'.repeat(43)}`,
  })
  value: string;
  @ApiProperty({
    enum: PROOF_STATUSES,
    description:
      'Of an active connection, looked at daily: `failing` is missing, and after 72 h `failed`: nobody with an address of the domain signs in by the connection until it is activated again.',
  })
  status: ProofStatus;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) failing_since: string | null;
}

/** A connection as it is answered. */
export class SsoConnectionDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @SameAs(CreateSsoConnectionDto) name: string;
  @ApiProperty({ enum: ['oidc'] }) protocol: 'oidc';
  @SameAs(CreateSsoConnectionDto) issuer: string;
  @SameAs(CreateSsoConnectionDto) client_id: string;
  @SameAs(CreateSsoConnectionDto) domains: string[];
  @ApiProperty() enforced: boolean;
  @ApiProperty() jit: boolean;
  @ApiProperty({ type: [String] }) jit_role_ids: string[];
  @ApiProperty({ enum: SSO_STATUSES }) status: (typeof SSO_STATUSES)[number];
  @ApiProperty({
    description: 'To be registered at the provider as redirect URI: it is this connection’s alone.',
    example: 'https://api.example.com/oauth/sso/callback/0192f3a0-0000-7000-8000-000000000001',
  })
  redirect_uri: string;
  @ApiProperty({ type: [DomainProofDto], description: 'What proves the domains, in DNS.' })
  domain_proofs: DomainProofDto[];
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

/** A connection without its secret. */
export function toSsoConnectionDto(
  row: SsoConnection,
  own: { redirectUri: string; proofs: DomainProof[]; held: HeldDomains },
): SsoConnectionDto {
  return {
    id: row.id,
    name: row.name,
    protocol: row.protocol,
    issuer: row.issuer,
    client_id: row.clientId,
    domains: row.domains,
    enforced: row.enforced,
    jit: row.jit,
    jit_role_ids: row.jitRoleIds,
    status: row.status,
    redirect_uri: own.redirectUri,
    domain_proofs: own.proofs.map((proof) => ({ ...proof, ...standingOf(row, own.held.get(proof.domain)) })),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}

function standingOf(
  { status }: SsoConnection,
  failingSince: Date | null | undefined,
): Pick<DomainProofDto, 'status' | 'failing_since'> {
  if (status !== 'active') return { status: 'pending', failing_since: null };
  if (failingSince === undefined) return { status: 'failed', failing_since: null };
  return failingSince === null
    ? { status: 'proven', failing_since: null }
    : { status: 'failing', failing_since: failingSince.toISOString() };
}

/** `GET /v1/identity/sso-connections` (identity.md §9). */
export const SSO_CONNECTIONS_LIST: ListDefinition = {
  resource: 'identity.sso-connections',
  filters: {
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'ne', 'in', 'prefix'] },
    status: { type: 'enum', column: 'status', values: SSO_STATUSES },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name', byLanguage: true },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
