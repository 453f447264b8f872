import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { IsBoolean, IsIn, IsString, Length } from 'class-validator';
import { CHANNELS, type Channel } from '../addresses/channel.js';

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
  @ApiPropertyOptional(TOKEN)
  @MayBeAbsent()
  @IsString()
  @Length(1, 2_000)
  token?: string;
}

/** Body of `POST /v1/messaging/unsubscribe` as JSON, where the token is not in the address. */
export class UnsubscribeDto {
  @ApiPropertyOptional(TOKEN)
  @MayBeAbsent()
  @IsString()
  token?: string;
}

/** What has ended. */
export class UnsubscribedDto {
  @ApiProperty({ enum: CHANNELS })
  @IsIn(CHANNELS)
  channel: Channel;

  @ApiProperty({ type: String, nullable: true, description: 'Null: all marketing of the channel.' })
  @MayBeNull()
  @IsString()
  topic: string | null;

  @ApiProperty({ enum: [false] })
  @IsBoolean()
  subscribed: false;
}
