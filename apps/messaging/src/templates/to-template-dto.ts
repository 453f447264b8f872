import type { TemplateDto } from './template.dto.js';
import type { TemplateEntity } from './template.entity.js';

/** A template as it is answered: its newest content, and which version is sent. */
export function toTemplateDto(row: TemplateEntity): TemplateDto {
  return {
    id: row.id,
    name: row.name,
    channel: row.channel,
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
