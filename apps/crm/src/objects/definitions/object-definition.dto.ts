import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent, PatchOf, SameAs, type ListDefinition } from '@customer-platform/http';
import { IsArray, IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { OBJECT_FIELD_SCHEMA, SHOWN_OBJECT_FIELD_SCHEMA } from '../../fields/field.dto.js';
import { MOST_OBJECT_FIELDS } from '../../fields/object-fields.js';
import type { ObjectField } from '../../fields/field.js';
import type { Progress } from '../indexing/index-jobs.js';
import type { FieldIndex } from './known-definition.js';
import type { ObjectDefinition } from './object-definition.entity.js';
import { RANGES } from '../../range-ops.js';

/** Words that stand, or may come to stand, where a slug does. */
const RESERVED = ['purge', 'restore', 'new', 'search', 'contacts', 'objects', 'definitions'];
/** No UUID matches it: in a path the two are never taken for each other. */
const SLUG = `^(?!(?:${RESERVED.join('|')})$)[a-z][a-z0-9_]{1,39}$`;

const FIELDS = {
  type: 'array' as const,
  maxItems: MOST_OBJECT_FIELDS,
  description: 'What `values` of the records hold. At most 10 can be indexed.',
};

/** What `POST /v1/crm/object-definitions` takes. */
export class CreateObjectDefinitionDto {
  @ApiProperty({ example: 'vehicle', description: 'Names the objects in paths.' })
  @IsString()
  @Matches(new RegExp(SLUG))
  slug: string;

  @ApiProperty({ example: 'Vehicle' })
  @IsString()
  @MinLength(1)
  @MaxLength(80)
  name: string;

  @ApiProperty({
    ...FIELDS,
    items: OBJECT_FIELD_SCHEMA,
    default: [],
    example: [{ key: 'plate', label: 'Plate', type: 'string', max_length: 10, required: true, unique: true }],
  })
  @MayBeAbsent()
  @IsArray()
  fields?: unknown[];
}

/** What `PATCH /v1/crm/object-definitions/{id}` takes: JSON merge; `fields` are given whole. */
export class UpdateObjectDefinitionDto extends PatchOf(CreateObjectDefinitionDto, { immutable: ['slug'] }) {}

/** A definition as it is answered. */
export class ObjectDefinitionDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @SameAs(CreateObjectDefinitionDto) slug: string;
  @SameAs(CreateObjectDefinitionDto) name: string;
  @ApiProperty({
    ...FIELDS,
    items: SHOWN_OBJECT_FIELD_SCHEMA,
    example: [
      {
        ...{ key: 'plate', label: 'Plate', type: 'string', max_length: 10, required: true, archived: false },
        ...{ unique: true, indexed: true, index_state: 'ready' },
      },
    ],
  })
  fields: readonly object[];
  @ApiProperty({ type: 'integer', description: 'Active records.' }) record_count: number;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

/** `GET /v1/crm/object-definitions` (crm.md §3). */
export const OBJECT_DEFINITIONS_LIST: ListDefinition = {
  resource: 'crm.object_definitions',
  filters: {
    slug: { type: 'string', column: 'slug', ops: ['eq'] },
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'prefix'] },
    created_at: { type: 'time', column: 'created_at', ops: RANGES },
    updated_at: { type: 'time', column: 'updated_at', ops: RANGES },
  },
  sorts: {
    name: { type: 'string', column: 'name', byLanguage: true },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

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
