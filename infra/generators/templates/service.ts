import type { Field } from '../field.ts';
import type { Resource } from '../resource.ts';

function created({ name, property, type, optional }: Field): string {
  const value =
    type === 'time' ? (optional ? `toDate(body.${name})` : `new Date(body.${name})`) : `body.${name}`;
  return `${property}: ${value}${optional ? ' ?? null' : ''},`;
}

function updated({ name, property, type }: Field): string {
  return `${property}: ${type === 'time' ? `toDate(body.${name})` : `body.${name}`},`;
}

const TO_DATE = `
function toDate(text: string | null | undefined): Date | null | undefined {
  return typeof text === 'string' ? new Date(text) : text;
}
`;

function definition({ module, table, singularClass, singularName, fields, event }: Resource): string {
  const unique = fields.find((field) => field.unique);
  const constraints = unique
    ? `constraints: { unique: { ${table}_${unique.name}: { field: '${unique.name}', pointer: '/${unique.name}' } } },`
    : '';
  return `{
      entity: ${singularClass},
      module: '${module}',
      resource: '${table}',
      ${constraints}
      ${event ? `event: ${singularName}Event,` : ''}
    }`;
}

/** `activity-types.service.ts` */
export function serviceTemplate(resource: Resource): string {
  const { singular, pluralClass, singularClass, pluralName, singularName, words, fields, event } = resource;
  const mutable = fields.filter(({ immutable }) => !immutable);
  const taken = fields.some(({ unique }) => unique) ? '`duplicate_value`' : undefined;
  const dates = [...fields.filter(({ optional }) => optional), ...mutable].some(
    ({ type }) => type === 'time',
  );
  const changedTaken = taken && mutable.some(({ unique }) => unique) ? [taken] : [];
  const problems = ['`resource_deleted`', '`etag_mismatch`', ...changedTaken].join(', ');
  return `import { Injectable } from '@nestjs/common';
import { ResourceStores, type ResourceStore } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import type { Create${singularClass}Dto, Update${singularClass}Dto } from './${singular}.dto.js';
import { ${event ? `${singularClass}, ${singularName}Event` : singularClass} } from './${singular}.entity.js';

/** The ${words} of an organization. */
@Injectable()
export class ${pluralClass}Service {
  private readonly ${pluralName}: ResourceStore<${singularClass}>;

  constructor(stores: ResourceStores) {
    this.${pluralName} = stores.of<${singularClass}>(${definition(resource)});
  }

  list(context: RequestContext, query: ListQuery): Promise<Page<${singularClass}>> {
    return this.${pluralName}.page(context, query);
  }

  ${taken ? `/** @throws Problem ${taken} */` : ''}
  create(context: RequestContext, body: Create${singularClass}Dto): Promise<${singularClass}> {
    return this.${pluralName}.create(context, {
      ${fields.map(created).join('\n      ')}
    });
  }

  get(context: RequestContext, id: string): Promise<${singularClass}> {
    return this.${pluralName}.get(context, id);
  }

  /** @throws Problem ${problems} */
  update(context: RequestContext, id: string, body: Update${singularClass}Dto): Promise<${singularClass}> {
    return this.${pluralName}.update(context, id, {
      ${mutable.map(updated).join('\n      ')}
    });
  }

  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.${pluralName}.softDelete(context, id);
  }

  restore(context: RequestContext, id: string): Promise<${singularClass}> {
    return this.${pluralName}.restore(context, id);
  }

  purge(context: RequestContext, id: string): Promise<void> {
    return this.${pluralName}.purge(context, id);
  }
}
${dates ? TO_DATE : ''}`;
}
