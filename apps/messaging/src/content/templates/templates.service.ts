import { Injectable } from '@nestjs/common';
import {
  Clock,
  Database,
  mergePatch,
  ResourceStores,
  sameJson,
  type ResourceChange,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import { turns, type ListQuery, type Page, type RequestContext } from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import { Problem } from '@customer-platform/problem-json';
import type { RoutableEvent } from '../../vocabulary/events/routed-event.js';
import { permissionsOfRule } from '../../vocabulary/makers/carried-permissions.js';
import { demandPermissions } from '../../vocabulary/makers/reading-permissions.js';
import { Tenants } from '../../background/organizations/tenants.js';
import { readShape } from '../../vocabulary/shapes/read-shape.js';
import {
  templateContent,
  type LocaleParts,
  type TemplateContent,
  type TemplateVariable,
} from '../../vocabulary/templates/template-content.js';
import type { CreateTemplateDto, UpdateTemplateDto } from './template.dto.js';
import { TemplateEntity } from './template.entity.js';
import { TemplateExpansion } from './template-expansion.js';
import { TemplateVersions, type CompiledLocales, type TemplateVersion } from './template-versions.js';
import { UsedTemplates, type ShownUse, type TemplateUse } from './used-templates.js';

/** A change of the content that another one overtook is computed anew this often. */
const TRIES = 5;
const BESIDE_NO_REVERT = [
  'default_locale',
  'locales',
  'variables',
  'strict',
  'layout',
  'published_version',
  'renew_uses',
] as const;

/** What is in use: what a newest or published version holds. */
const CURRENT_USES = `(SELECT u.* FROM template_uses u JOIN templates t ON t.organization_id = u.organization_id
    AND t.id = u.template_id AND u.version IN (t.version, t.published_version)) AS current_uses`;

const USING = `EXISTS (SELECT FROM template_uses u WHERE u.organization_id = templates.organization_id
    AND u.template_id = templates.id AND u.version IN (templates.version, templates.published_version)
    AND u.used_id = $2)`;

/** A content that is to become a version. */
interface Draft {
  readonly content: TemplateContent;
  readonly parts: CompiledLocales;
  readonly uses: readonly TemplateUse[];
}

/**
 * Templates and their versions (messaging.md §4). A change of the content makes a new immutable version; what is sent
 * is the published one.
 */
@Injectable()
export class TemplatesService {
  private readonly store: ResourceStore<TemplateEntity>;

  constructor(
    stores: ResourceStores,
    private readonly database: Database,
    private readonly versions: TemplateVersions,
    private readonly expansion: TemplateExpansion,
    private readonly used: UsedTemplates,
    private readonly clock: Clock,
    private readonly tenants: Tenants,
  ) {
    this.store = stores.of<TemplateEntity>({
      entity: TemplateEntity,
      module: 'messaging',
      resource: 'templates',
      largeRows: true,
      constraints: {
        unique: { templates_name: { field: 'name', pointer: '/name' } },
        references: {
          campaigns_template: { module: 'messaging', resource: 'campaigns' },
          event_routing_template: { module: 'messaging', resource: 'event-routing' },
        },
      },
      event: publication,
      referencedBy: [
        { table: 'campaigns', column: 'template_id', resource: 'campaigns' },
        { table: 'event_routing', column: 'template_id', resource: 'event-routing' },
        {
          table: '(SELECT * FROM sends WHERE due_at IS NOT NULL) AS unfinished',
          column: 'template_id',
          resource: 'sends',
        },
        { table: CURRENT_USES, column: 'used_id', resource: 'templates' },
      ],
    });
  }

  list(context: RequestContext, query: ListQuery): Promise<Page<TemplateEntity>> {
    const { uses } = query.parameters;
    return this.store.page(context, query, uses === undefined ? undefined : { sql: USING, values: [uses] });
  }

  /** The layouts and partials whose texts stand in the contents of these rows, by template. */
  uses(context: RequestContext, rows: readonly TemplateEntity[]): Promise<Map<string, ShownUse[]>> {
    return this.database.inOrganization(context, (tx) => this.used.of(tx, rows));
  }

  get(context: RequestContext, id: string): Promise<TemplateEntity> {
    return this.store.get(context, id);
  }

  /**
   * A template with one of its versions: the published one, else the newest, where none is named.
   * @throws Problem `not_found`, `validation_failed` with the pointer `/version`
   */
  async version(
    context: RequestContext,
    id: string,
    wanted: number | undefined,
  ): Promise<{ template: TemplateEntity; version: TemplateVersion }> {
    const template = await this.get(context, id);
    const number = wanted ?? template.publishedVersion ?? template.version;
    const version = await this.database.inOrganization(context, (tx) => this.versions.find(tx, id, number));
    if (!version) throw noVersion('/version', number, template.version);
    return { template, version };
  }

  /** @throws Problem `validation_failed`, `template_invalid`, `duplicate_value` */
  async create(context: RequestContext, dto: CreateTemplateDto): Promise<TemplateEntity> {
    this.tenants.learn(context.organization);
    const { kind = 'message', channel, default_locale, locales, variables = {}, layout = null } = dto;
    // A value that is missing is found in the message that it is missing from.
    const strict = kind === 'message' && (dto.strict ?? true);
    const own = { id: null, kind, channel };
    const content = checkContent(own, { default_locale, locales, variables, strict, layout });
    const draft = await this.compiled(context.organizationId, own, content);
    return this.database.inOrganization(context, async (tx) => {
      const values = {
        name: dto.name,
        channel,
        kind,
        ...columnsOf(content),
        version: 1,
        publishedVersion: dto.publish === false ? null : 1,
      };
      const row = await this.store.create(context, values, { tx });
      await this.add(tx, row, draft);
      if (row.publishedVersion !== null)
        await this.versions.publish(tx, context, row.id, row.publishedVersion);
      return row;
    });
  }

  /**
   * JSON merge. What touches the content makes a version, published unless `publish` is false. Who publishes what rules
   * send must be able to read what these carry.
   * @throws Problem `privilege_escalation`, `validation_failed`, `template_invalid`, `duplicate_value`, `resource_deleted`, `etag_mismatch`
   */
  async update(context: RequestContext, id: string, dto: UpdateTemplateDto): Promise<TemplateEntity> {
    this.tenants.learn(context.organization);
    for await (const _ of turns({ most: TRIES })) {
      const seen = await this.store.get(context, id);
      const draft = await this.draftOf(context, seen, dto);
      const updated = await this.database.inOrganization(context, (tx) =>
        this.apply(tx, context, seen, dto, draft),
      );
      if (updated) return updated;
    }
    throw new Problem('etag_mismatch');
  }

  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.store.softDelete(context, id);
  }

  restore(context: RequestContext, id: string): Promise<TemplateEntity> {
    return this.store.restore(context, id);
  }

  purge(context: RequestContext, id: string): Promise<void> {
    return this.store.purge(context, id);
  }

  /** The content after the patch, compiled; undefined when the patch leaves the content as it is. */
  private async draftOf(
    context: RequestContext,
    seen: TemplateEntity,
    dto: UpdateTemplateDto,
  ): Promise<Draft | undefined> {
    if (seen.deletedAt) throw new Problem('resource_deleted');
    const { default_locale, locales, variables, layout } = dto;
    const strict = seen.kind === 'message' ? dto.strict : undefined;
    if (dto.revert_to !== undefined) return this.earlier(context, seen, dto, dto.revert_to);
    const before = contentOf(seen);
    const patch = { default_locale, locales, variables, strict };
    const merged = {
      ...(mergePatch(before, patch) as TemplateContent),
      layout: layout === undefined ? before.layout : layout,
    };
    const isSame = sameJson(before, merged);
    if (isSame && dto.renew_uses !== true) return undefined;
    const draft = await this.compiled(seen.organizationId, seen, checkContent(seen, merged));
    return isSame && (await this.holds(context, seen, draft.uses)) ? undefined : draft;
  }

  private async compiled(
    organizationId: string,
    own: Pick<TemplateEntity, 'kind' | 'channel'> & { id: string | null },
    content: TemplateContent,
  ): Promise<Draft> {
    const { locales, uses } = await this.expansion.expand(organizationId, own, content);
    return { content, uses, parts: await this.versions.compile(organizationId, locales, own.kind) };
  }

  /** Whether the newest version holds these very ones. */
  private async holds(
    context: RequestContext,
    seen: TemplateEntity,
    uses: readonly TemplateUse[],
  ): Promise<boolean> {
    const held = (await this.uses(context, [seen])).get(seen.id) ?? [];
    const versions = new Map(held.map((use) => [use.used_id, use.used_version]));
    return held.length === uses.length && uses.every(({ id, version }) => versions.get(id) === version);
  }

  /** @throws Problem `template_invalid` where a layout or partial has gone meanwhile */
  private async add(tx: Transaction, row: TemplateEntity, { content, parts, uses }: Draft): Promise<void> {
    await this.versions.add(tx, row, content, parts, this.clock.now());
    if (await this.used.add(tx, row, uses)) return;
    const detail = 'A layout or partial that it uses has just been removed.';
    throw Problem.validation([{ pointer: '/locales', code: 'template_invalid', detail }]);
  }

  /** The content of an earlier version, compiled anew; undefined when it is the newest one's. */
  private async earlier(
    context: RequestContext,
    seen: TemplateEntity,
    dto: UpdateTemplateDto,
    version: number,
  ): Promise<Draft | undefined> {
    const beside = BESIDE_NO_REVERT.filter((field) => dto[field] !== undefined);
    if (beside.length > 0) {
      const detail = 'It cannot stand beside `revert_to`.';
      throw Problem.validation(
        beside.map((field) => ({ pointer: `/${field}`, code: 'not_allowed' as const, detail })),
      );
    }
    const content = await this.database.inOrganization(context, (tx) =>
      this.versions.content(tx, seen.id, version),
    );
    if (!content) throw noVersion('/revert_to', version, seen.version);
    if (sameJson(contentOf(seen), content)) return undefined;
    return this.compiled(seen.organizationId, seen, content);
  }

  /** @returns undefined when another change came first */
  private async apply(
    tx: Transaction,
    context: RequestContext,
    seen: TemplateEntity,
    dto: UpdateTemplateDto,
    draft: Draft | undefined,
  ): Promise<TemplateEntity | undefined> {
    const locked = await this.store.lock(tx, context, seen.id);
    if (locked.version !== seen.version) return undefined;
    const version = draft ? seen.version + 1 : seen.version;
    const publishedVersion = await this.published(tx, locked, dto, version, draft !== undefined);
    const publishes = publishedVersion !== null && publishedVersion !== locked.publishedVersion;
    if (publishes) demandPermissions(context, await permissionsOfUsers(tx, seen.id));
    const patch = {
      ...(dto.name === undefined ? {} : { name: dto.name }),
      ...(draft ? replaced(locked, columnsOf(draft.content)) : {}),
      version,
      publishedVersion,
    };
    const row = await this.store.update(context, seen.id, patch, { tx, ifMatch: context.ifMatch });
    if (draft) await this.add(tx, row, draft);
    if (publishes) await this.versions.publish(tx, context, row.id, publishedVersion);
    return row;
  }

  private async published(
    tx: Transaction,
    row: TemplateEntity,
    dto: UpdateTemplateDto,
    version: number,
    changed: boolean,
  ): Promise<number | null> {
    const wanted = dto.published_version;
    if (wanted === undefined) {
      const writes = changed || dto.revert_to !== undefined;
      const publishes = writes ? dto.publish !== false : dto.publish === true;
      return publishes ? version : row.publishedVersion;
    }
    if (wanted !== version && !(await this.versions.find(tx, row.id, wanted))) {
      throw noVersion('/published_version', wanted, version);
    }
    return wanted;
  }
}

/** What reads all that the rules carry which send it, those too that are disabled: whoever enables one reads nothing. */
async function permissionsOfUsers(tx: Transaction, templateId: string): Promise<Permission[]> {
  const rows = await tx.query<{ event_type: RoutableEvent }>(
    `SELECT DISTINCT event_type FROM event_routing
      WHERE organization_id = $1 AND template_id = $2 AND deleted_at IS NULL`,
    [tx.organizationId, templateId],
  );
  return rows.flatMap((row) => permissionsOfRule(row.event_type));
}

function noVersion(pointer: string, wanted: number, newest: number): Problem {
  const detail = `There is no version ${wanted}; the newest is ${newest}.`;
  return Problem.validation([{ pointer, code: 'out_of_range', detail }]);
}

function checkContent(
  { channel, kind }: Pick<TemplateEntity, 'channel' | 'kind'>,
  content: object,
): TemplateContent {
  return readShape(templateContent(channel, kind), content, '');
}

function contentOf(row: TemplateEntity): TemplateContent {
  return {
    default_locale: row.defaultLocale,
    locales: row.locales,
    variables: row.variables,
    strict: row.strict,
    layout: row.layout,
  };
}

function columnsOf(content: TemplateContent): {
  defaultLocale: string;
  locales: Record<string, LocaleParts>;
  variables: Record<string, TemplateVariable>;
  strict: boolean;
  layout: string | null;
} {
  return {
    defaultLocale: content.default_locale,
    locales: { ...content.locales },
    variables: { ...content.variables },
    strict: content.strict,
    layout: content.layout,
  };
}

/** The store merges objects: what is to vanish has to be said as null. */
function replaced<T extends object>(row: TemplateEntity, columns: T): T {
  const whole = columns as Record<string, unknown>;
  const before = row as unknown as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(whole).map(([name, value]) => [name, withNulls(before[name], value)]),
  ) as T;
}

function withNulls(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return {
    ...Object.fromEntries(
      Object.entries(after).map(([name, value]) => [name, withNulls(before[name], value)]),
    ),
    ...Object.fromEntries(gone.map((name) => [name, null])),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A version took effect: told once, whoever made it and however. */
function publication({ verb, row, before }: ResourceChange<TemplateEntity>) {
  const took =
    verb === 'created' || (verb === 'updated' && before?.publishedVersion !== row.publishedVersion);
  if (!took || row.publishedVersion === null) return undefined;
  return {
    type: 'messaging.template.published.v1',
    key: row.id,
    subject: `templates/${row.id}`,
    data: { template_id: row.id, version: row.publishedVersion },
  };
}
