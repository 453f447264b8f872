import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { IsArray, IsBoolean, IsObject, IsString } from 'class-validator';
import { MadeByDto } from '../../vocabulary/makers/made-by.dto.js';
import { STANDINGS } from '../../background/makers/maker-rights.js';

/** The whole document; what is inside each part is described in its example and checked with pointers. */
export class ChannelSettingsDto {
  @ApiProperty({
    description:
      'By channel name: email (`smtp`, `mailgun`, `ses`, `http`), sms (`twilio`, `http`), whatsapp (`meta`, `twilio`, `http`), push (`fcm`, `apns`, `webpush`, `http`), in_app (`inbox`, `http`). A channel that is left out is disabled and its secrets are erased. `webhook_url` is read-only, and so is `misconfigured`: `{since, stage, code}` while the provider refuses the account and sends wait, else null.',
    example: {
      email: {
        enabled: true,
        provider: 'smtp',
        from: 'Shop <hello@shop.example>',
        reply_to: null,
        max_per_second: 50,
        consent_mode: 'opt_out',
        host: 'smtp.shop.example',
        port: 587,
        security: 'starttls',
        username: 'shop',
        password: 'written, never read back',
      },
      sms: {
        enabled: true,
        provider: 'twilio',
        from: '+56961234567',
        account_sid: 'AC00000000000000000000000000000000',
        auth_token: 'written-and-never-read-back',
      },
      push: {
        enabled: true,
        provider: 'http',
        url: 'https://push.shop.example/messages',
        secret: 'written, never read back',
      },
      in_app: { enabled: true },
    },
  })
  @IsObject()
  channels: object;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { start: '22:00', end: '08:00', timezone: 'America/Santiago' },
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  quiet_hours?: object | null;

  @ApiProperty({
    type: 'array',
    maxItems: 10,
    items: { type: 'object', additionalProperties: true },
    example: [{ channel: 'email', limit: 3, window: 'week' }],
  })
  @MayBeAbsent()
  @IsArray()
  caps?: unknown[];

  @ApiProperty({
    type: 'array',
    maxItems: 50,
    items: { type: 'object', additionalProperties: true },
    example: [{ key: 'news', name: 'News', channels: ['email'], default: true }],
  })
  @MayBeAbsent()
  @IsArray()
  topics?: unknown[];

  @ApiProperty({
    writeOnly: true,
    description: 'True: the caller answers for where messages go from now on, and must be able to read them.',
  })
  @MayBeAbsent()
  @IsBoolean()
  adopt?: boolean;

  @ApiProperty({
    type: MadeByDto,
    readOnly: true,
    description: 'Who last said to whose accounts messages go, or adopted that.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  maker?: object | null;

  @ApiProperty({
    type: String,
    enum: STANDINGS,
    readOnly: true,
    description:
      '`not_permitted`: its maker cannot read messages any more; what leaves the platform waits until somebody who can ' +
      'adopts the settings. `unowned`: of before makers were noted, or the platform’s own. Null while it cannot be told.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  standing?: string | null;
}
