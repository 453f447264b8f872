import { ApiProperty } from '@nestjs/swagger';
import {
  IsInstant,
  IsUUID,
  MayBeAbsent,
  MayBeNull,
  PatchOf,
  type ListDefinition,
} from '@customer-platform/http';
import { Type } from 'class-transformer';
import { IsArray, IsBoolean, IsIn, IsString, Length, ValidateNested } from 'class-validator';
import {
  FAULTS,
  PURPOSES,
  STATUSES,
  type Fault,
  type Purpose,
  keyOf,
  type DnsRecords,
  type Findings,
  type WantedRecord,
} from './dns-records.js';
import { DOMAIN_STATES, type DomainState, type SenderDomainEntity } from './sender-domain.entity.js';
import { signingPair } from './dkim-pairs.js';

const DOMAIN = {
  description: 'Unique among active domains. Kept in lower case and A-labels; no address, no public suffix.',
  example: 'mail.shop.example',
};

/** Body of `POST /v1/messaging/sender-domains`. */
export class CreateSenderDomainDto {
  @ApiProperty(DOMAIN)
  @IsString()
  @Length(1, 253)
  domain: string;
}

/** Body of `PATCH /v1/messaging/sender-domains/{id}`: JSON merge. */
export class UpdateSenderDomainDto extends PatchOf(CreateSenderDomainDto, { immutable: ['domain'] }) {
  @ApiProperty({
    description:
      'True: a new pair of keys, whose records are in the answer. It signs once they are found; until then the pair ' +
      'before does, and another rotation is the same one.',
  })
  @MayBeAbsent()
  @IsBoolean()
  rotate_dkim?: boolean;
}

/** A record to publish, and what DNS says of it. */
export class SenderDomainRecordDto {
  @IsIn(PURPOSES)
  purpose: Purpose;

  @IsIn(['TXT', 'CNAME'])
  type: 'TXT' | 'CNAME';

  @ApiProperty({ example: '_customer-platform.mail.shop.example' })
  @IsString()
  name: string;

  @ApiProperty({
    description: 'Longer than 255 characters: published in pieces, which are joined.',
    example: 'customer-platform-sender=x3Jx0yXx9bqY0cP5Yk1yq0m3bqU2r5oV1s7nH0d2tWk',
  })
  @IsString()
  value: string;

  @ApiProperty({ description: 'Whether the domain is verified by it.' })
  @IsBoolean()
  required: boolean;

  @ApiProperty({ description: 'By the last answer of DNS; a timeout changes nothing.' })
  @IsIn(STATUSES)
  status: (typeof STATUSES)[number];

  @ApiProperty({ description: 'What is `wrong`.' })
  @MayBeNull()
  @IsIn(FAULTS)
  fault: Fault | null;

  @ApiProperty({ description: 'Of the last answer of DNS.' })
  @MayBeNull()
  @IsInstant()
  checked_at: string | null;
}

/** A sender domain as it is answered. */
export class SenderDomainDto {
  @IsUUID()
  id: string;

  @ApiProperty({ example: DOMAIN.example })
  @IsString()
  domain: string;

  @ApiProperty({ description: '`failed`: a verified one whose records were wrong for 72 h.' })
  @IsIn(DOMAIN_STATES)
  state: DomainState;

  @ApiProperty({ description: 'Of the RSA key that signs.', example: 'cp0123456789abcdef' })
  @IsString()
  selector: string;

  @ApiProperty({ type: () => [SenderDomainRecordDto] })
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => SenderDomainRecordDto)
  records: SenderDomainRecordDto[];

  @ApiProperty({ description: 'Since when a verified domain has been without a required record.' })
  @MayBeNull()
  @IsInstant()
  failing_since: string | null;

  @ApiProperty({ description: 'When it was verified the last time it was not.' })
  @MayBeNull()
  @IsInstant()
  verified_at: string | null;

  @IsInstant()
  created_at: string;

  @IsInstant()
  updated_at: string;

  @MayBeNull()
  @IsInstant()
  deleted_at: string | null;
}

/** `GET /v1/messaging/sender-domains` (messaging.md §10). */
export const SENDER_DOMAINS_LIST: ListDefinition = {
  resource: 'messaging.sender-domains',
  filters: {
    domain: { type: 'string', column: 'domain', ops: ['eq', 'ne', 'in', 'is_null', 'prefix'] },
    state: { type: 'enum', column: 'state', values: DOMAIN_STATES },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
    domain: { type: 'string', column: 'domain' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

/** A domain as it is answered; of its keys it shows the public ones alone. */
export function toSenderDomainDto(row: SenderDomainEntity, records: DnsRecords): SenderDomainDto {
  return {
    id: row.id,
    domain: row.domain,
    state: row.state,
    selector: signingPair(row.dkimKeys).selector,
    records: records.of(row).map((record) => toRecordDto(record, row.findings)),
    failing_since: row.failingSince?.toISOString() ?? null,
    verified_at: row.verifiedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}

function toRecordDto(record: WantedRecord, findings: Findings): SenderDomainRecordDto {
  const finding = findings[keyOf(record)];
  const { purpose, type, name, value, required } = record;
  return {
    purpose,
    type,
    name,
    value,
    required,
    status: finding?.status ?? 'unchecked',
    fault: finding?.fault ?? null,
    checked_at: finding?.at ?? null,
  };
}
