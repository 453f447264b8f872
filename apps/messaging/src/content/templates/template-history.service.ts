import { Injectable } from '@nestjs/common';
import { Database, pageOf, type Transaction } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Tenants } from '../../background/organizations/tenants.js';
import { Renderer } from '../rendering/renderer.js';
import { changesBetween } from './template-diff.js';
import type { TemplateDiffDto, TemplateVersionDto } from './template-version.dto.js';
import { TemplateVersions } from './template-versions.js';
import type { TemplateEntity } from './template.entity.js';
import { TemplatesService } from './templates.service.js';

const VERSIONS = `
  SELECT version, default_locale, created_at FROM template_versions WHERE organization_id = $1 AND template_id = $2`;

/** Which of some versions there are, without what they say. */
const BOTH = `
  SELECT version AS newest, ARRAY(
           SELECT v.version FROM template_versions v
            WHERE v.organization_id = t.organization_id AND v.template_id = t.id AND v.version = ANY($3::int[])
         ) AS versions
    FROM templates t WHERE organization_id = $1 AND id = $2`;

interface Row {
  version: number;
  default_locale: string;
  created_at: Date;
}

/** What a template said before, and what became of it. */
@Injectable()
export class TemplateHistory {
  constructor(
    private readonly database: Database,
    private readonly templates: TemplatesService,
    private readonly versions: TemplateVersions,
    private readonly renderer: Renderer,
    private readonly tenants: Tenants,
  ) {}

  /** Newest first. @throws Problem `not_found` */
  async list(context: RequestContext, id: string, query: ListQuery): Promise<Page<TemplateVersionDto>> {
    const template = await this.templates.get(context, id);
    return this.database.inOrganization(context, (tx) =>
      pageOf<Row, TemplateVersionDto>(tx, VERSIONS, query, {
        parameters: [context.organizationId, id],
        map: (row) => ({
          version: row.version,
          published: row.version === template.publishedVersion,
          default_locale: row.default_locale,
          created_at: row.created_at.toISOString(),
        }),
      }),
    );
  }

  /** The template with the content of a version. @throws Problem `not_found`, `validation_failed` for `version` */
  async get(context: RequestContext, id: string, version: number | undefined): Promise<TemplateEntity> {
    const template = await this.templates.get(context, id);
    if (version === undefined) return template;
    const content = await this.database.inOrganization(context, (tx) =>
      this.contentOf(tx, template, version),
    );
    const { default_locale: defaultLocale, locales, variables, strict, layout } = content;
    return {
      ...template,
      version,
      defaultLocale,
      locales: { ...locales },
      variables: { ...variables },
      strict,
      layout,
    };
  }

  /**
   * What differs between two versions, field by field.
   * @throws Problem `not_found`, `validation_failed` for `from` and `to`, `rate_limited`
   */
  async diff(context: RequestContext, id: string, from: number, to: number): Promise<TemplateDiffDto> {
    this.tenants.learn(context.organization);
    const changes = await this.database.inOrganization(context, async (tx) => {
      await this.findBoth(tx, id, from, to);
      return changesBetween(tx, id, from, to);
    });
    const compared = changes.flatMap(({ texts }) => texts ?? []);
    const unified = compared.length > 0 ? await this.renderer.compare(context.organizationId, compared) : {};
    return {
      from,
      to,
      changes: changes.map(({ name, kind }) => ({ pointer: name, kind, unified: unified[name] ?? null })),
    };
  }

  private async findBoth(tx: Transaction, id: string, from: number, to: number): Promise<void> {
    const [found] = await tx.query<{ newest: number; versions: number[] }>(BOTH, [
      tx.organizationId,
      id,
      [from, to],
    ]);
    if (!found) throw new Problem('not_found');
    const { newest, versions } = found;
    if (!versions.includes(from)) throw noVersion('from', from, newest);
    if (!versions.includes(to)) throw noVersion('to', to, newest);
  }

  private async contentOf(tx: Transaction, template: TemplateEntity, version: number) {
    const content = await this.versions.content(tx, template.id, version);
    if (!content) throw noVersion('version', version, template.version);
    return content;
  }
}

function noVersion(parameter: string, wanted: number, newest: number): Problem {
  const detail = `There is no version ${wanted}; the newest is ${newest}.`;
  return Problem.validation([{ parameter, code: 'out_of_range', detail }]);
}
