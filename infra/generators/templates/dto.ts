import { isFilter, type Field, type FieldType } from '../field.ts';
import type { Resource } from '../resource.ts';

/** What the column `integer` holds. */
const LEAST = '-2_147_483_648';
const MOST = '2_147_483_647';

const WIRE_TYPES: Record<FieldType, string> = {
  string: 'string',
  integer: 'number',
  boolean: 'boolean',
  time: 'string',
};

/** What the description shows: the field's own name in words. */
function exampleOf({ name, max }: Field): string {
  return `'${`${name.slice(0, 1).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`.slice(0, max)}'`;
}

/** What no validator knows: an example of a text. */
function described(field: Field): string[] {
  return field.type === 'string' ? [`@ApiProperty({ example: ${exampleOf(field)} })`] : [];
}

function checks({ type, max }: Field): string[] {
  switch (type) {
    case 'string':
      return ['@IsString()', '@MinLength(1)', `@MaxLength(${max})`];
    case 'integer':
      return ['@IsInt()', `@Min(${LEAST})`, `@Max(${MOST})`];
    case 'boolean':
      return ['@IsBoolean()'];
    case 'time':
      return ['@IsInstant()'];
  }
}

/** A field of the body; where it is optional, it may be absent. */
function bodyField(field: Field): string {
  const { name, type, optional } = field;
  return [
    ...described(field),
    ...(optional ? ['@MayBeAbsent()', '@MayBeNull()'] : []),
    ...checks(field),
    `${name}${optional ? '?' : ''}: ${WIRE_TYPES[type]}${optional ? ' | null' : ''};`,
  ].join('\n');
}

function answerField({ name, type, optional }: Field, body: string): string {
  return `@SameAs(${body}) ${name}: ${WIRE_TYPES[type]}${optional ? ' | null' : ''};`;
}

/** What a patch refuses to change. */
function immutableOf(fields: readonly Field[]): string {
  const names = fields.filter(({ immutable }) => immutable).map(({ name }) => `'${name}'`);
  return names.length > 0 ? `, { immutable: [${names.join(', ')}] }` : '';
}

/** The names that the text uses, for its imports. */
function used(text: string, names: string[]): string[] {
  return names.filter((name) => new RegExp(`[@ ]${name}\\(`).test(text));
}

function filter({ name, type }: Field): string {
  return `${name}: { type: '${type}', column: '${name}' },`;
}

/** The name of the list's definition: `ACTIVITY_TYPES_LIST`. */
export function listName({ table }: Resource): string {
  return `${table.toUpperCase()}_LIST`;
}

function listDefinition(resource: Resource): string {
  const { module, plural, table, fields } = resource;
  const sorts = fields
    .filter(({ unique }) => unique)
    .map(({ name }) => `${name}: { type: 'string', column: '${name}' },`);
  return `/** \`GET /v1/${module}/${plural}\` */
export const ${listName(resource)}: ListDefinition = {
  resource: '${module}.${table}',
  filters: {
    ${fields.filter(isFilter).map(filter).join('\n    ')}
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    ${sorts.join('\n    ')}
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
`;
}

/** `activity-type.dto.ts`: what the API takes and answers. */
export function dtoTemplate(resource: Resource): string {
  const { module, plural, singular, singularClass, aWord, fields } = resource;
  const body = `Create${singularClass}Dto`;
  const bodies = `
/** What \`POST /v1/${module}/${plural}\` takes. */
export class ${body} {
${fields.map(bodyField).join('\n\n')}
}

/** What \`PATCH /v1/${module}/${plural}/{id}\` takes: JSON merge. */
export class Update${singularClass}Dto extends PatchOf(${body}${immutableOf(fields)}) {}

/** ${aWord.slice(0, 1).toUpperCase()}${aWord.slice(1)} as it is answered. */
export class ${singularClass}Dto {
  @ApiProperty({ format: 'uuid' }) id: string;
${fields.map((field) => answerField(field, body)).join('\n')}
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}
`;
  const http = used(bodies, ['IsInstant', 'MayBeAbsent', 'MayBeNull', 'PatchOf', 'SameAs']);
  const validator = used(bodies, ['IsBoolean', 'IsInt', 'IsString', 'Max', 'MaxLength', 'Min', 'MinLength']);
  return `import { ApiProperty } from '@nestjs/swagger';
import { ${[...http, 'type ListDefinition'].join(', ')} } from '@customer-platform/http';
${validator.length > 0 ? `import { ${validator.join(', ')} } from 'class-validator';` : ''}
import type { ${singularClass} } from './${singular}.entity.js';
${bodies}
${listDefinition(resource)}
${toDto(resource)}`;
}

function answered({ name, property, type, optional }: Field, row: string): string {
  if (type !== 'time') return `${name}: ${row}.${property},`;
  return optional
    ? `${name}: ${row}.${property}?.toISOString() ?? null,`
    : `${name}: ${row}.${property}.toISOString(),`;
}

function toDto({ singularClass, singularName: row, aWord, fields }: Resource): string {
  return `/** ${aWord.slice(0, 1).toUpperCase()}${aWord.slice(1)} as the API answers it. */
export function to${singularClass}Dto(${row}: ${singularClass}): ${singularClass}Dto {
  return {
    id: ${row}.id,
    ${fields.map((field) => answered(field, row)).join('\n    ')}
    created_at: ${row}.createdAt.toISOString(),
    updated_at: ${row}.updatedAt.toISOString(),
    deleted_at: ${row}.deletedAt?.toISOString() ?? null,
  };
}
`;
}
