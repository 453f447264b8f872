import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, IsUUID, MayBeNull } from '@customer-platform/http';
import { IsBoolean, IsString } from 'class-validator';

/** A message in a member's inbox. */
class NotificationDto {
  @IsUUID()
  id: string;

  @IsString()
  title: string;

  @IsString()
  body: string;

  @MayBeNull()
  @IsString()
  url: string | null;

  @MayBeNull()
  @IsString()
  topic: string | null;

  @ApiProperty({ description: 'Whether it came before `notifications_read_until` of the preferences.' })
  @IsBoolean()
  read: boolean;

  @IsInstant()
  created_at: string;
}

/** How far a list goes. */
class NotificationPageInfoDto {
  @ApiProperty({ type: 'integer', example: 50 })
  limit: number;

  @ApiProperty({ type: String, nullable: true })
  next_cursor: string | null;
}

/** A page of the inbox. */
export class NotificationPageDto {
  @ApiProperty({ type: [NotificationDto] })
  data: NotificationDto[];

  @ApiProperty({ type: NotificationPageInfoDto })
  page: NotificationPageInfoDto;

  @ApiProperty({ type: 'integer', description: 'Of the whole inbox, whatever the filter.' })
  unread_count: number;
}
