import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { IsObject } from 'class-validator';
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
