import { isFilter, type Field, type FieldType } from '../field.ts';
import type { Resource } from '../resource.ts';

const FILTER_TYPES: Record<FieldType, string> = {
  string: 'string',
  integer: 'integer',
  boolean: 'boolean',
  time: 'time',
};

function filter({ name, type }: Field): string {
  return `${name}: { type: '${FILTER_TYPES[type]}', column: '${name}' },`;
}

/** The name of the list's definition: `ACTIVITY_TYPES_LIST`. */
export function listName({ table }: Resource): string {
  return `${table.toUpperCase()}_LIST`;
}

/** `activity-types.list.ts` */
export function listTemplate(resource: Resource): string {
  const { module, plural, table, fields } = resource;
  const sorts = fields
    .filter(({ unique }) => unique)
    .map(({ name }) => `${name}: { type: 'string', column: '${name}' },`);
  return `import type { ListDefinition } from '@customer-platform/http';

/** \`GET /v1/${module}/${plural}\` */
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

/** `activity-types.module.ts` */
export function moduleTemplate({ plural, pluralClass, words }: Resource): string {
  return `import { Module } from '@nestjs/common';
import { ${pluralClass}Controller } from './${plural}.controller.js';
import { ${pluralClass}Service } from './${plural}.service.js';

/** ${words.slice(0, 1).toUpperCase()}${words.slice(1)}. */
@Module({ controllers: [${pluralClass}Controller], providers: [${pluralClass}Service] })
export class ${pluralClass}Module {}
`;
}

/** `activity-types.controller.ts` */
export function controllerTemplate(resource: Resource): string {
  const { module, plural, singular, pluralClass, singularClass, pluralName, singularName } = resource;
  const { permissions, words, aWord } = resource;
  const path = `v1/${module}/${plural}`;
  const unique = resource.fields.find((field) => field.unique);
  const problems = unique ? `problems: ['duplicate_value'],` : '';
  return `import { Controller } from '@nestjs/common';
import { versionTag } from '@customer-platform/database';
import {
  Answer, Body, Context, CreateEndpoint, GetEndpoint, Id, ListEndpoint, ListRequest, type ListQuery, type Page,
  PurgeEndpoint, type RequestContext, RestoreEndpoint, SoftDeleteEndpoint, UpdateEndpoint,
} from '@customer-platform/http';
import { Create${singularClass}Dto, ${singularClass}Dto, Update${singularClass}Dto } from './${singular}.dto.js';
import type { ${singularClass} } from './${singular}.entity.js';
import { ${listName(resource)} } from './${plural}.list.js';
import { ${pluralClass}Service } from './${plural}.service.js';
import { to${singularClass}Dto } from './to-${singular}-dto.js';

@Controller('${path}')
export class ${pluralClass}Controller {
  constructor(private readonly ${pluralName}: ${pluralClass}Service) {}

  @CreateEndpoint({
    permission: '${permissions.create}', summary: 'Create ${aWord}', response: ${singularClass}Dto, ${problems}
  })
  async create(@Context() context: RequestContext, @Body() body: Create${singularClass}Dto): Promise<Answer> {
    const ${singularName} = await this.${pluralName}.create(context, body);
    const location = \`/${path}/\${${singularName}.id}\`;
    return Answer.created(to${singularClass}Dto(${singularName}), location, { ETag: versionTag(${singularName}) });
  }

  @ListEndpoint({ permission: '${permissions.read}', summary: 'List ${words}', response: ${singularClass}Dto })
  async list(
    @Context() context: RequestContext,
    @ListRequest(${listName(resource)}) query: ListQuery,
  ): Promise<Page<${singularClass}Dto>> {
    const { data, page } = await this.${pluralName}.list(context, query);
    return { data: data.map(to${singularClass}Dto), page };
  }

  @GetEndpoint({ permission: '${permissions.read}', summary: 'Read ${aWord}', response: ${singularClass}Dto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return tagged(await this.${pluralName}.get(context, id));
  }

  @UpdateEndpoint({
    permission: '${permissions.update}', summary: 'Change ${aWord}', response: ${singularClass}Dto,
    ${unique?.immutable ? '' : problems}
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: Update${singularClass}Dto,
  ): Promise<Answer> {
    return tagged(await this.${pluralName}.update(context, id, body));
  }

  @SoftDeleteEndpoint({ permission: '${permissions.delete}', summary: 'Soft-delete ${aWord}' })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.${pluralName}.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: '${permissions.delete}', summary: 'Restore ${aWord}', response: ${singularClass}Dto,
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return tagged(await this.${pluralName}.restore(context, id));
  }

  @PurgeEndpoint({ permission: '${permissions.purge}', summary: 'Purge a soft-deleted ${resource.word}' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.${pluralName}.purge(context, id);
  }
}

const tagged = (${singularName}: ${singularClass}): Answer =>
  Answer.tagged(to${singularClass}Dto(${singularName}), versionTag(${singularName}));
`;
}
