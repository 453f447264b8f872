import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { IsBoolean, IsIn, IsString, Length } from 'class-validator';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';

const TOKEN = { description: 'The signed token of the link; it never expires.' };

/** Query of `GET /v1/messaging/unsubscribe`. */
export class UnsubscribeQueryDto {
  @ApiProperty(TOKEN)
  @IsString()
  @Length(1, 2_000)
  token: string;
}

/** Query of `POST /v1/messaging/unsubscribe`. */
export class UnsubscribePostQueryDto {
  @ApiProperty(TOKEN)
  @MayBeAbsent()
  @IsString()
  @Length(1, 2_000)
  token?: string;
}

/** Body of `POST /v1/messaging/unsubscribe` as JSON, where the token is not in the address. */
export class UnsubscribeDto {
  @ApiProperty(TOKEN)
  @MayBeAbsent()
  @IsString()
  token?: string;
}

/** What has ended. */
export class UnsubscribedDto {
  @IsIn(CHANNELS)
  channel: Channel;

  @ApiProperty({ description: 'Null: all marketing of the channel.' })
  @MayBeNull()
  @IsString()
  topic: string | null;

  @ApiProperty({ enum: [false] })
  @IsBoolean()
  subscribed: false;
}
