import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, IsUUID, MayBeAbsent, MayBeNull, PatchOf } from '@customer-platform/http';
import { IsBoolean, IsIn, IsInt, IsObject, IsString, Length, Max, Min } from 'class-validator';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import { TEMPLATE_KINDS, type TemplateKind } from '../../vocabulary/templates/template-content.js';
import type { TemplateEntity } from './template.entity.js';
import type { ShownUse } from './used-templates.js';

/** What the database counts to. */
const LAST_VERSION = 2_147_483_647;

const LOCALES = {
  description:
    'Parts by locale. E-mail: `subject`, `html` or `mjml` (compiled on saving), `text` (derived when left out).',
  type: 'object',
  additionalProperties: { type: 'object', additionalProperties: true },
  example: { es: { subject: 'Hola {{ contact.first_name }}', html: '<p>Gracias por tu compra.</p>' } },
} as const;
const VARIABLES = {
  description: 'What `data` must hold: `{type, required, default}` by name.',
  type: 'object',
  additionalProperties: { type: 'object', additionalProperties: true },
  example: { order: { type: 'string', required: true } },
} as const;

/** Body of `POST /v1/messaging/templates`. */
export class CreateTemplateDto {
  @ApiProperty({ description: 'Unique among active templates.', example: 'Thanks for a purchase' })
  @IsString()
  @Length(1, 120)
  name: string;

  @IsIn(CHANNELS)
  channel: Channel;

  @ApiProperty({ description: 'One of `locales`.', example: 'es' })
  @IsString()
  default_locale: string;

  @ApiProperty(LOCALES)
  @IsObject()
  locales: Record<string, unknown>;

  @ApiProperty(VARIABLES)
  @MayBeAbsent()
  @IsObject()
  variables?: Record<string, unknown>;

  @ApiProperty({
    default: 'message',
    description:
      'A `layout` is a frame around messages, which go where it says `{{ content }}`; a `partial` is a piece that ' +
      '`{% render “name” %}` puts in. Neither is sent by itself.',
  })
  @MayBeAbsent()
  @IsIn(TEMPLATE_KINDS)
  kind?: TemplateKind;

  @ApiProperty({
    type: String,
    description: 'The name of a published layout of the channel.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 120)
  layout?: string | null;

  @ApiProperty({ default: true, description: 'An undefined variable fails the send.' })
  @MayBeAbsent()
  @IsBoolean()
  strict?: boolean;

  @ApiProperty({ default: true, description: 'False keeps the version a draft.' })
  @MayBeAbsent()
  @IsBoolean()
  publish?: boolean;
}

/** Body of `PATCH /v1/messaging/templates/{id}`: JSON merge. */
export class UpdateTemplateDto extends PatchOf(CreateTemplateDto, { immutable: ['channel', 'kind'] }) {
  @ApiProperty({ default: true })
  declare publish?: boolean;

  @ApiProperty({
    description:
      'Which version is sent: rolls back, or publishes a draft. The newest content stays as it is.',
  })
  @MayBeAbsent()
  @IsInt()
  @Min(1)
  @Max(LAST_VERSION)
  published_version?: number;

  @ApiProperty({
    description:
      'Makes the content of an earlier version the newest one, as a version of its own, published unless `publish` ' +
      'is false. Stands alone, beside `name` and `publish`.',
  })
  @MayBeAbsent()
  @IsInt()
  @Min(1)
  @Max(LAST_VERSION)
  revert_to?: number;

  @ApiProperty({
    description:
      'True: a version of the same content with the layouts and partials as they are published now, where they are ' +
      'others than in the newest one.',
  })
  @MayBeAbsent()
  @IsBoolean()
  renew_uses?: boolean;
}

/** A layout or partial whose text stands in a version. */
class TemplateUseDto {
  @IsUUID()
  id: string;

  @ApiProperty({ example: 'Footer' })
  @IsString()
  name: string;

  @IsIn(TEMPLATE_KINDS)
  kind: TemplateKind;

  @ApiProperty({ description: 'Whose text it is.' })
  @IsInt()
  version: number;

  @ApiProperty({ description: 'What a version that is made now would hold.' })
  @MayBeNull()
  @IsInt()
  published_version: number | null;
}

/** A template as it is answered. */
export class TemplateDto {
  @IsUUID()
  id: string;

  @ApiProperty({ example: 'Thanks for a purchase' })
  @IsString()
  name: string;

  @IsIn(CHANNELS)
  channel: Channel;

  @IsIn(TEMPLATE_KINDS)
  kind: TemplateKind;

  @MayBeNull()
  @IsString()
  layout: string | null;

  @ApiProperty({ type: () => [TemplateUseDto], description: 'Of the content shown, by name.' })
  uses: TemplateUseDto[];

  @ApiProperty({ example: 'es' })
  @IsString()
  default_locale: string;

  @ApiProperty(LOCALES)
  @IsObject()
  locales: Record<string, unknown>;

  @ApiProperty(VARIABLES)
  @IsObject()
  variables: Record<string, unknown>;

  @IsBoolean()
  strict: boolean;

  @ApiProperty({ description: 'Of the content shown; grows with every change of it.' })
  @IsInt()
  version: number;

  @ApiProperty({ description: 'What is sent.' })
  @MayBeNull()
  @IsInt()
  published_version: number | null;

  @IsInstant()
  created_at: string;

  @IsInstant()
  updated_at: string;

  @MayBeNull()
  @IsInstant()
  deleted_at: string | null;
}

/** A template as it is answered: its newest content, and which version is sent. */
export function toTemplateDto(row: TemplateEntity, uses: readonly ShownUse[]): TemplateDto {
  return {
    id: row.id,
    name: row.name,
    channel: row.channel,
    kind: row.kind,
    layout: row.layout,
    uses: uses.map((use) => ({
      id: use.used_id,
      name: use.name,
      kind: use.kind,
      version: use.used_version,
      published_version: use.published_version,
    })),
    default_locale: row.defaultLocale,
    locales: row.locales,
    variables: row.variables,
    strict: row.strict,
    version: row.version,
    published_version: row.publishedVersion,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}
