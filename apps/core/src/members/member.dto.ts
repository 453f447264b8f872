import { ApiProperty } from '@nestjs/swagger';
import { custom, MayBeAbsent, MayBeNull, type ListDefinition } from '@customer-platform/http';
import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsString, Length, ValidateNested } from 'class-validator';
import { CONSENT_CHANNELS, isPurpose, SAID, type Said, STATES } from '../vocabulary/consents/consent.js';

const PURPOSE = {
  description:
    '`marketing`, `loyalty`, `profiling`, `analytics`, `research`, `third_party_sharing` or `custom.<slug>`.',
  example: 'marketing',
};

/** What a member says about one purpose and channel. */
export class MemberConsentDto {
  @ApiProperty(PURPOSE)
  @IsString()
  @custom('isPurpose', isPurpose, {
    message: `$property must be a purpose: ${PURPOSE.description}`,
    context: { code: 'invalid_enum' },
  })
  purpose: string;

  @ApiProperty({ description: 'Null or absent: all channels.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsIn(CONSENT_CHANNELS)
  channel?: string | null;

  @ApiProperty({ example: 'withdrawn' })
  @IsIn(SAID)
  status: Said;

  @ApiProperty({ description: 'Of the notice that was shown; required to grant.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 100)
  notice_version?: string | null;
}

/** Body of `PATCH /v1/core/members/me/consents`. */
export class UpdateMemberConsentsDto {
  @ApiProperty({ type: [MemberConsentDto], description: 'All or nothing.' })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @ValidateNested({ each: true })
  @Type(() => MemberConsentDto)
  consents: MemberConsentDto[];
}

/** What a member reads of their consents: what holds now. */
export const MEMBER_CONSENT_LIST: ListDefinition = {
  resource: 'core.members.consents',
  filters: {
    purpose: { type: 'string', column: 'purpose' },
    channel: { type: 'enum', column: 'channel', values: CONSENT_CHANNELS },
    status: { type: 'enum', column: 'status', values: STATES },
  },
  sorts: { occurred_at: { type: 'time', column: 'occurred_at' } },
  defaultSort: '-occurred_at',
};
