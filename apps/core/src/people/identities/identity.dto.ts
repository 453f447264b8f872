import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { MayBeAbsent, SameAs, type ListDefinition } from '@customer-platform/http';
import { IDENTITY_TYPE } from '../../vocabulary/events/event-schemas.js';
import { IsNoPlaceholder } from '../../vocabulary/identities/no-placeholder.decorator.js';

/** As ingestion takes them. */
const LONGEST_VALUE = 500;
const TYPE = {
  example: 'anonymous_id',
  description: '`external_id`, `email`, `phone`, `anonymous_id`, `device_id` or `custom.<slug>`.',
};

/** Body of `POST /v1/core/contacts/{id}/identities`. */
export class CreateIdentityDto {
  @ApiProperty(TYPE)
  @IsString()
  @Matches(IDENTITY_TYPE)
  type: string;

  @ApiProperty({ example: '9f1c2d' })
  @IsNoPlaceholder()
  @IsString()
  @MinLength(1)
  @MaxLength(LONGEST_VALUE)
  value: string;

  @ApiProperty({ default: false, description: 'Whether the contact has proved that it is theirs.' })
  @MayBeAbsent()
  @IsBoolean()
  verified?: boolean;
}

/** Query, or body, of `DELETE /v1/core/contacts/{id}/identities`. */
export class IdentityKeyDto {
  @ApiProperty(TYPE)
  @MayBeAbsent()
  @IsString()
  @Matches(IDENTITY_TYPE)
  type?: string;

  @MayBeAbsent()
  @IsString()
  @MinLength(1)
  @MaxLength(LONGEST_VALUE)
  value?: string;
}

/** An identity as it is answered. */
export class IdentityDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @SameAs(CreateIdentityDto) type: string;
  @ApiProperty({ description: 'As it was sent; it is matched in its normal form.' }) value: string;
  @ApiProperty() verified: boolean;
  @ApiProperty({
    description: 'Whether it stands in the field of the contact that has the name of its type.',
  })
  primary: boolean;
  @ApiProperty({ description: 'What brought it: `api`, `track` or `identify`.' }) source: string;
  @ApiProperty({ format: 'date-time' }) first_seen_at: string;
  @ApiProperty({ format: 'date-time' }) last_seen_at: string;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
}

/** `GET /v1/core/contacts/{id}/identities`. */
export const IDENTITY_LIST: ListDefinition = {
  resource: 'core.identities',
  filters: {
    type: { type: 'string', column: 'type' },
    verified: { type: 'boolean', column: 'verified' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    last_seen_at: { type: 'time', column: 'last_seen_at' },
  },
  defaultSort: '-created_at',
};
