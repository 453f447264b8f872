import type { ResourceChange } from '@customer-platform/database';
import type { ObjectDefinition } from './object-definition.entity.js';

/** The fields of a change, by property; what is kept to find records by is no news. */
const FIELDS: Readonly<Record<string, string>> = {
  slug: 'slug',
  name: 'name',
  fields: 'fields',
  deletedAt: 'deleted_at',
};

/** `crm.object_definition.*` (crm.md §6): what changed, by name. */
export function objectDefinitionEvent({ verb, row, changed }: ResourceChange<ObjectDefinition>) {
  return {
    type: `crm.object_definition.${verb}.v1`,
    key: row.id,
    subject: `object-definitions/${row.id}`,
    data: { id: row.id, slug: row.slug, changed: changed.flatMap((property) => FIELDS[property] ?? []) },
  };
}
