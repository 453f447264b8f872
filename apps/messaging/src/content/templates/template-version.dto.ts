import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, MayBeAbsent } from '@customer-platform/http';
import { IsBoolean, IsInt, IsString, Matches } from 'class-validator';

const NUMBER = /^[1-9]\d{0,8}$/;

/** Query of `GET /v1/messaging/templates/{id}`. */
export class TemplateQueryDto {
  @ApiProperty({ description: 'Shows the content of this version instead of the newest.' })
  @MayBeAbsent()
  @Matches(NUMBER, { message: '$property must be the number of a version' })
  version?: string;
}

/** Query of `GET /v1/messaging/templates/{id}/diff`. */
export class TemplateDiffQueryDto {
  @ApiProperty({ description: 'The version before.' })
  @Matches(NUMBER, { message: '$property must be the number of a version' })
  from: string;

  @ApiProperty({ description: 'The version after.' })
  @Matches(NUMBER, { message: '$property must be the number of a version' })
  to: string;
}

/** A version of a template, without its texts. */
export class TemplateVersionDto {
  @IsInt()
  version: number;

  @ApiProperty({ description: 'Whether it is what is sent.' })
  @IsBoolean()
  published: boolean;

  @ApiProperty({ example: 'es' })
  @IsString()
  default_locale: string;

  @IsInstant()
  created_at: string;
}

/** A field that is not as it was. */
class TemplateChangeDto {
  @ApiProperty({ example: '/locales/es/subject' })
  pointer: string;

  @ApiProperty({ enum: ['added', 'removed', 'changed'] })
  kind: 'added' | 'removed' | 'changed';

  @ApiProperty({
    type: String,
    nullable: true,
    example: '@@ -1,1 +1,1 @@\n-Hola\n+Hola, Ana',
    description:
      'Unified lines; null where the texts are too long, or too different, to be told line by line.',
  })
  unified: string | null;
}

/** What differs between two versions. */
export class TemplateDiffDto {
  @IsInt()
  from: number;

  @IsInt()
  to: number;

  @ApiProperty({ type: [TemplateChangeDto] })
  changes: TemplateChangeDto[];
}
