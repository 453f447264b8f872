import type { Resource } from '../resource.ts';
import { listName } from './dto.ts';

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
  const { module, plural, singular, pluralClass, singularClass, pluralName } = resource;
  const { permissions, words, aWord } = resource;
  const path = `v1/${module}/${plural}`;
  const unique = resource.fields.find((field) => field.unique);
  const problems = unique ? `problems: ['duplicate_value'],` : '';
  return `import { Controller } from '@nestjs/common';
import {
  Answer, Body, Context, CreateEndpoint, GetEndpoint, Id, ListEndpoint, ListRequest, mapPage, type ListQuery,
  type Page, PurgeEndpoint, type RequestContext, RestoreEndpoint, SoftDeleteEndpoint, UpdateEndpoint,
} from '@customer-platform/http';
import {
  ${listName(resource)}, Create${singularClass}Dto, ${singularClass}Dto, to${singularClass}Dto, Update${singularClass}Dto,
} from './${singular}.dto.js';
import { ${pluralClass}Service } from './${plural}.service.js';

@Controller('${path}')
export class ${pluralClass}Controller {
  constructor(private readonly ${pluralName}: ${pluralClass}Service) {}

  @CreateEndpoint({
    permission: '${permissions.create}', summary: 'Create ${aWord}', response: ${singularClass}Dto, ${problems}
  })
  async create(@Context() context: RequestContext, @Body() body: Create${singularClass}Dto): Promise<Answer> {
    return Answer.newResource(to${singularClass}Dto(await this.${pluralName}.create(context, body)), '/${path}');
  }

  @ListEndpoint({ permission: '${permissions.read}', summary: 'List ${words}', response: ${singularClass}Dto })
  async list(
    @Context() context: RequestContext,
    @ListRequest(${listName(resource)}) query: ListQuery,
  ): Promise<Page<${singularClass}Dto>> {
    return mapPage(await this.${pluralName}.list(context, query), to${singularClass}Dto);
  }

  @GetEndpoint({ permission: '${permissions.read}', summary: 'Read ${aWord}', response: ${singularClass}Dto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(to${singularClass}Dto(await this.${pluralName}.get(context, id)));
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
    return Answer.resource(to${singularClass}Dto(await this.${pluralName}.update(context, id, body)));
  }

  @SoftDeleteEndpoint({ permission: '${permissions.delete}', summary: 'Soft-delete ${aWord}' })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.${pluralName}.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: '${permissions.delete}', summary: 'Restore ${aWord}', response: ${singularClass}Dto,
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(to${singularClass}Dto(await this.${pluralName}.restore(context, id)));
  }

  @PurgeEndpoint({ permission: '${permissions.purge}', summary: 'Purge a soft-deleted ${resource.word}' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.${pluralName}.purge(context, id);
  }
}
`;
}
