import { ApiProperty } from '@nestjs/swagger';
import { IsUUID, MayBeNull } from '@customer-platform/http';
import { Type } from 'class-transformer';
import { IsBoolean, IsInt, IsObject, IsString, ValidateNested } from 'class-validator';

const REASONS = { type: 'object', additionalProperties: { type: 'integer' } } as const;

/** The message of a campaign as one member would get it. */
export class CheckedMessageDto {
  @ApiProperty({ description: 'A member who would get it.' })
  @IsUUID()
  contact_id: string;

  @MayBeNull()
  @IsString()
  locale: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'As it would leave; the token of the unsubscribe link stands for the member’s own.',
    example: { subject: 'Hola Ana', html: '<p>Gracias por tu compra.</p>' },
  })
  @IsObject()
  parts: Record<string, string>;

  @ApiProperty({ type: Number, nullable: true })
  sms_segments: number | null;
}

/** Why no message is shown. */
export class CheckedMessageProblemDto {
  @ApiProperty({
    description:
      '`render_failed`, `render_limit_exceeded` or `template_invalid`: every send may fail so. `permission_denied`: the ' +
      'caller lacks `core.contacts.read`. `not_permitted` or `organization_suspended`: all who would get it wait for that.',
  })
  @IsString()
  code: string;

  @IsString()
  detail: string;
}

/** Answer of `POST /v1/messaging/campaigns/{id}/check`. */
export class CampaignCheckDto {
  @ApiProperty({
    description:
      'False: there was no time for all members, or another module did not say what has to be known of some. The counts ' +
      'are of those who were looked at.',
  })
  @IsBoolean()
  complete: boolean;

  @ApiProperty({ description: 'Members who were looked at: `reachable` and `excluded` together.' })
  @IsInt()
  checked: number;

  @ApiProperty({ description: 'Members who would get the message.' })
  @IsInt()
  reachable: number;

  @ApiProperty({
    ...REASONS,
    description:
      'How many of the reachable would get it later, by what it waits for: `quiet_hours`, `not_permitted` (nobody who may ' +
      'read messages answers for the channel) or `organization_suspended`.',
    example: { quiet_hours: 2 },
  })
  @IsObject()
  waiting_reasons: Record<string, number>;

  @IsInt()
  excluded: number;

  @ApiProperty({
    ...REASONS,
    description: 'How many would get nothing, by why: reasons of skipped members and of sends.',
    example: { no_consent: 3, duplicate_address: 1 },
  })
  @IsObject()
  excluded_reasons: Record<string, number>;

  @ApiProperty({ type: CheckedMessageDto, description: 'Null where nobody was found reachable.' })
  @MayBeNull()
  @ValidateNested()
  @Type(() => CheckedMessageDto)
  message: CheckedMessageDto | null;

  @ApiProperty({ type: CheckedMessageProblemDto })
  @MayBeNull()
  @ValidateNested()
  @Type(() => CheckedMessageProblemDto)
  message_problem: CheckedMessageProblemDto | null;
}
