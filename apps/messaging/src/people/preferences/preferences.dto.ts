import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, IsUUID, MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { IsIn, IsObject, IsString, Length } from 'class-validator';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import type { Preferences } from './preference-document.js';

const SHAPE = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    properties: {
      marketing: { type: 'boolean' },
      topics: { type: 'object', additionalProperties: { type: 'boolean' } },
    },
  },
  example: { email: { marketing: true, topics: {} } },
} as const;

/** Body of `PATCH /v1/messaging/members/me/preferences`: JSON merge. */
export class UpdatePreferencesDto {
  @ApiProperty({
    ...SHAPE,
    description: 'By channel: `marketing`, and `topics` of the settings. Null takes a choice back.',
  })
  @MayBeAbsent()
  @IsObject()
  channels?: object;

  @ApiProperty({ description: 'Only advances, and not beyond now.' })
  @MayBeAbsent()
  @IsInstant()
  notifications_read_until?: string;
}

/** What a member receives. */
export class PreferencesDto {
  @ApiProperty({ ...SHAPE, description: 'By channel.' })
  @IsObject()
  channels: Preferences;

  @MayBeNull()
  @IsInstant()
  notifications_read_until: string | null;
}

/** Body of `PATCH /v1/messaging/contacts/{id}/preferences`: JSON merge. */
export class UpdateContactPreferencesDto {
  @ApiProperty({
    ...SHAPE,
    description: 'By channel: `marketing`, and `topics` of the settings. Null takes a choice back.',
  })
  @MayBeAbsent()
  @IsObject()
  channels?: object;

  @ApiProperty({ description: 'Required where it lifts what the person has declined; audited.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 500)
  reason?: string | null;
}

/** An objection of a person. */
export class ObjectionDto {
  @IsIn(CHANNELS)
  channel: Channel;

  @ApiProperty({ description: 'Null: all marketing of the channel.' })
  @MayBeNull()
  @IsString()
  topic: string | null;

  @IsInstant()
  since: string;
}

/** Preferences of a contact, as staff sees them. */
export class ContactPreferencesDto {
  @IsUUID()
  contact_id: string;

  @ApiProperty({ ...SHAPE, description: 'By channel.' })
  @IsObject()
  channels: Preferences;

  @ApiProperty({ type: [ObjectionDto] })
  objections: ObjectionDto[];
}
