import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, MayBeAbsent, MayBeNull, PatchOf } from '@customer-platform/http';
import { Type } from 'class-transformer';
import { IsArray, IsBoolean, IsIn, IsString, IsUUID, Length, ValidateNested } from 'class-validator';
import { FAULTS, PURPOSES, STATUSES, type Fault, type Purpose } from './dns-records.js';
import { DOMAIN_STATES, type DomainState } from './sender-domain.entity.js';

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
