import { ApiProperty } from '@nestjs/swagger';
import { IsLocaleTag, MayBeAbsent } from '@customer-platform/http';
import { IsInt, IsObject, Max, Min } from 'class-validator';

const LAST_VERSION = 2_147_483_647;

/** Body of `POST /v1/messaging/templates/{id}/test`. */
export class TestTemplateDto {
  @MayBeAbsent()
  @IsObject()
  data?: Record<string, unknown>;

  @ApiProperty({ example: 'es-CL' })
  @MayBeAbsent()
  @IsLocaleTag()
  locale?: string;

  @ApiProperty({ description: 'The published version, else the newest, unless given; a draft too.' })
  @MayBeAbsent()
  @IsInt()
  @Min(1)
  @Max(LAST_VERSION)
  version?: number;
}
