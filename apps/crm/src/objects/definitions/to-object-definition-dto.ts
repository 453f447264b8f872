import type { ObjectField } from '../../fields/field.js';
import type { Progress } from '../indexing/index-jobs.js';
import type { FieldIndex } from './known-definition.js';
import type { ObjectDefinitionDto } from './object-definition.dto.js';
import type { ObjectDefinition } from './object-definition.entity.js';

/** A definition with what stands beside it. */
export interface ShownDefinition {
  readonly definition: ObjectDefinition;
  readonly recordCount: number;
  /** By number, of the indexes that are being built. */
  readonly progress: ReadonlyMap<number, Progress>;
}

/** A definition as the API answers it. */
export function toObjectDefinitionDto(shown: ShownDefinition): ObjectDefinitionDto {
  const { definition, recordCount, progress } = shown;
  return {
    id: definition.id,
    slug: definition.slug,
    name: definition.name,
    fields: definition.fields.map((field) => withState(field, definition.indexes, progress)),
    record_count: recordCount,
    created_at: definition.createdAt.toISOString(),
    updated_at: definition.updatedAt.toISOString(),
    deleted_at: definition.deletedAt?.toISOString() ?? null,
  };
}

function withState(
  field: ObjectField,
  indexes: readonly FieldIndex[],
  progress: ReadonlyMap<number, Progress>,
): object {
  const index = indexes.find(({ key }) => key === field.key);
  if (!index) return { ...field, index_state: null };
  if (index.state === 'ready') return { ...field, index_state: 'ready' };
  const { processed = 0, total = 0 } = progress.get(index.number) ?? {};
  return { ...field, index_state: 'building', index_progress: { processed, total } };
}
