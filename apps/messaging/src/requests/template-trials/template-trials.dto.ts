import { ApiProperty } from '@nestjs/swagger';
import { IsLocaleTag, IsUUID, MayBeAbsent } from '@customer-platform/http';
import { IsInt, IsObject, Max, Min } from 'class-validator';
import { WARNING_CODES, type TemplateWarning } from './template-warnings.js';

/** What the database counts to. */
const LAST_VERSION = 2_147_483_647;

/** Body of `POST /v1/messaging/templates/{id}/preview`. */
export class PreviewDto {
  @MayBeAbsent()
  @IsObject()
  data?: Record<string, unknown>;

  @ApiProperty({ example: 'es-CL' })
  @MayBeAbsent()
  @IsLocaleTag()
  locale?: string;

  @ApiProperty({ description: 'The published version, else the newest, unless given.' })
  @MayBeAbsent()
  @IsInt()
  @Min(1)
  @Max(LAST_VERSION)
  version?: number;

  @ApiProperty({ description: 'Needs `core.contacts.read` too.' })
  @MayBeAbsent()
  @IsUUID()
  contact_id?: string;
}

/** A part of a message, and the line of its rendered text. */
class WarningPlaceDto {
  @ApiProperty({ example: 'html' })
  part: string;

  @ApiProperty({ type: Number, nullable: true, example: 12 })
  line: number | null;
}

/** What the readers of a message may stumble over. */
class TemplateWarningDto {
  @ApiProperty({ enum: WARNING_CODES })
  code: string;

  @ApiProperty({ example: 'The link `http://shop.example` does not begin with https.' })
  detail: string;

  @ApiProperty({ type: WarningPlaceDto, nullable: true, description: 'Null: the message as a whole.' })
  where: WarningPlaceDto | null;
}

/** What a preview answers: the very bytes that would be sent. */
export class PreviewResultDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { subject: 'Hola Ana', html: '<p>Gracias por tu compra.</p>' },
  })
  parts: Record<string, string>;

  @ApiProperty({ type: Number, nullable: true })
  sms_segments: number | null;

  @ApiProperty({ type: () => [TemplateWarningDto], description: 'At most ten of a code, and how many more.' })
  warnings: TemplateWarning[];
}

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
