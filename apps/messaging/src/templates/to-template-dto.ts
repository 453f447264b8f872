import type { TemplateDto } from './template.dto.js';
import type { TemplateEntity } from './template.entity.js';
import type { ShownUse } from './used-templates.js';

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
