import { Injectable } from '@nestjs/common';
import {
  Database,
  ResourceStores,
  sameJson,
  Whole,
  type Patch,
  type ReferenceCount,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { AttributeHolds } from '../segments/building/attribute-holds.js';
import { SegmentSignal } from '../following/segment.signal.js';
import type {
  ConversionOutcomeDto,
  ConversionQueryDto,
  CreateAttributeDefinitionDto,
  UpdateAttributeDefinitionDto,
  ShownDefinition,
} from './attribute-definition.dto.js';
import { AttributeDefinition, columnsOf, declarationOf } from './attribute-definition.entity.js';
import {
  ConversionForecast,
  demandNothingLost,
  outcomeOf,
  type Forecast,
} from './conversion/conversion-forecast.js';
import { ConversionRunner } from './conversion/conversion-runner.js';
import { Conversions, type Beginning } from './conversion/conversions.js';
import {
  changedOf,
  takesAllOf,
  type Declaration,
  type OnFailure,
} from '../vocabulary/attributes/declaration.js';
import { readDeclaration } from './read-declaration.js';

const MOST_DEFINITIONS = 200;

const ANOTHER = `
  SELECT FROM attribute_definitions
   WHERE organization_id = $1 AND key = $2 AND id <> $3 AND deleted_at IS NULL`;

/** What a call came to: a definition, or of a dry run what would become of values. */
export type Outcome = ShownDefinition | { readonly forecast: ConversionOutcomeDto };

/**
 * The definitions of attributes (core.md §8). One that is new or asks for more goes through what contacts have already;
 * whatever is written from its commit on is checked by it.
 */
@Injectable()
export class AttributeDefinitionsService {
  private readonly definitions: ResourceStore<AttributeDefinition>;

  constructor(
    private readonly database: Database,
    private readonly forecasts: ConversionForecast,
    private readonly conversions: Conversions,
    private readonly runner: ConversionRunner,
    private readonly holds: AttributeHolds,
    private readonly segments: SegmentSignal,
    stores: ResourceStores,
  ) {
    this.definitions = stores.of<AttributeDefinition>({
      entity: AttributeDefinition,
      module: 'core',
      resource: 'attributes',
      limit: MOST_DEFINITIONS,
      largeRows: true,
      constraints: { unique: { attribute_definitions_key: { field: 'key', pointer: '/key', value: 'key' } } },
      fieldNames: { next: (before, after) => changedOf(presentOf(before), presentOf(after)) },
    });
  }

  async list(context: RequestContext, query: ListQuery): Promise<Page<ShownDefinition>> {
    const { data, page } = await this.definitions.page(context, query);
    const running = await this.database.inOrganization(context, (tx) =>
      this.conversions.of(
        tx,
        data.map(({ id }) => id),
      ),
    );
    return { data: data.map((definition) => ({ definition, conversion: running.get(definition.id) })), page };
  }

  /** @throws Problem `validation_failed`, `duplicate_value`, `limit_reached`, `attribute_migration_conflict` */
  async create(context: RequestContext, body: CreateAttributeDefinitionDto): Promise<Outcome> {
    const {
      key,
      label = key,
      member_visible: memberVisible = false,
      on_failure: onFailure = 'refuse',
    } = body;
    const declaration = readDeclaration(body);
    if (body.dry_run)
      return { forecast: outcomeOf(await this.forecasts.ofDryRun(context, key, declaration)) };
    const forecast = await this.forecasts.ofChange(context, key, declaration);
    if (onFailure === 'refuse') demandNothingLost(forecast);
    const values = { key, label, ...columnsOf(declaration), memberVisible, next: null };
    const { id } = await this.registering(context, async (tx) => {
      const definition = await this.definitions.create(context, values, { tx });
      await this.conversions.begin(tx, definition, begun(context, true, onFailure, forecast));
      return definition;
    });
    return this.carriedOn(context, id);
  }

  /** @throws Problem `not_found` */
  get(context: RequestContext, id: string): Promise<ShownDefinition> {
    return this.database.inOrganization(context, async (tx) => {
      const definition = await this.definitions.get(context, id, 'any', tx);
      return { definition, conversion: (await this.conversions.of(tx, [id])).get(id) };
    });
  }

  /**
   * What takes all present values as they are holds at once; anything else begins a conversion.
   * @throws Problem `attribute_migration_conflict`; `invalid_state` while another conversion runs
   */
  async update(
    context: RequestContext,
    id: string,
    body: UpdateAttributeDefinitionDto,
    query: ConversionQueryDto,
  ): Promise<Outcome> {
    const { definition: present, conversion } = await this.get(context, id);
    const next = readDeclaration(body, declarationOf(present));
    if (conversion && !sameJson(next, declarationOf(present))) throw stillConverting();
    const onFailure = query.on_failure ?? body.on_failure ?? 'refuse';
    const isDry = query.dry_run === 'true';
    let forecast: Forecast | undefined;
    if (!present.deletedAt && (isDry || !takesAllOf(next, declarationOf(present)))) {
      forecast = isDry
        ? await this.forecasts.ofDryRun(context, present.key, next)
        : await this.forecasts.ofChange(context, present.key, next);
      if (!isDry && onFailure === 'refuse') demandNothingLost(forecast);
    }
    if (isDry && present.deletedAt) throw new Problem('resource_deleted');
    if (isDry && forecast) return { forecast: outcomeOf(forecast) };
    await this.registering(context, async (tx) => {
      const running = (await this.conversions.of(tx, [id])).size > 0;
      const patch = (before: AttributeDefinition): Patch<AttributeDefinition> => {
        const after = readDeclaration(body, declarationOf(before));
        if (running && !sameJson(after, declarationOf(before))) throw stillConverting();
        return patchOf(before, body, after);
      };
      const definition = await this.definitions.update(context, id, patch, { tx });
      if (definition.next && !running)
        await this.conversions.begin(tx, definition, begun(context, false, onFailure, forecast));
      else await this.holds.forget(tx);
    });
    return this.carriedOn(context, id);
  }

  /**
   * Its attribute is one without a definition again; what contacts have stays.
   * @throws Problem `invalid_state` while a conversion runs
   */
  async softDelete(context: RequestContext, id: string): Promise<void> {
    await this.registering(context, async (tx) => {
      const before = await this.definitions.lock(tx, context, id);
      if (before.deletedAt) return;
      await this.demandNoConversion(tx, id);
      await this.definitions.softDelete(context, id, { tx });
      await this.holds.rebuild(tx, before.key, context.correlationId);
      tx.afterCommit(() => this.segments.raise());
    });
  }

  /** As a new one: what was written meanwhile is converted. @throws Problem as `create`, `not_deleted`, `restore_conflict` */
  async restore(context: RequestContext, id: string, query: ConversionQueryDto): Promise<Outcome> {
    const present = await this.definitions.get(context, id);
    if (!present.deletedAt) throw new Problem('not_deleted');
    const onFailure = query.on_failure ?? 'refuse';
    const declaration = declarationOf(present);
    if (query.dry_run === 'true')
      return { forecast: outcomeOf(await this.forecasts.ofDryRun(context, present.key, declaration)) };
    const forecast = await this.forecasts.ofChange(context, present.key, declaration);
    if (onFailure === 'refuse') demandNothingLost(forecast);
    await this.registering(context, async (tx) => {
      const definition = await this.definitions.restore(context, id, { tx });
      await this.conversions.begin(tx, definition, begun(context, true, onFailure, forecast));
    });
    return this.carriedOn(context, id);
  }

  /** @throws Problem `not_soft_deleted`; `resource_referenced` while segments ask for an attribute that nothing else declares */
  async purge(context: RequestContext, id: string): Promise<void> {
    let references: ReferenceCount[] = [];
    await this.registering(context, (tx) =>
      this.definitions.purge(context, id, {
        tx,
        guard: async (inner, { key }) => {
          const others = await inner.query(ANOTHER, [inner.organizationId, key, id]);
          if (others.length > 0) return;
          const count = await this.holds.count(inner, key);
          references = [{ module: 'core', resource: 'segments', count }];
        },
        references: () => references,
      }),
    );
  }

  /** Where contacts are few the conversion is over when the answer is given. */
  private async carriedOn(context: RequestContext, id: string): Promise<ShownDefinition> {
    await this.runner.begin(context.organizationId, id);
    return this.get(context, id);
  }

  private async demandNoConversion(tx: Transaction, id: string): Promise<void> {
    const running = await this.conversions.of(tx, [id]);
    if (running.size > 0) throw stillConverting();
  }

  /** Whoever writes attributes, or evaluates by them, is through before, or begins after it. */
  private registering<T>(context: RequestContext, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.database.inOrganization(context, async (tx) => {
      await this.holds.begin(tx);
      return work(tx);
    });
  }
}

function begun(
  { correlationId }: RequestContext,
  initial: boolean,
  onFailure: OnFailure,
  forecast: Forecast | undefined,
): Beginning {
  return { initial, onFailure, total: forecast?.total ?? 0, correlationId };
}

function patchOf(
  before: AttributeDefinition,
  { label, member_visible: memberVisible }: UpdateAttributeDefinitionDto,
  after: Declaration,
): Patch<AttributeDefinition> {
  const shown: Patch<AttributeDefinition> = { label, memberVisible };
  const present = declarationOf(before);
  if (sameJson(after, present)) return shown;
  if (!takesAllOf(after, present)) return { ...shown, next: new Whole(after) };
  const { enum: known, ...columns } = columnsOf(after);
  return { ...shown, ...columns, enum: new Whole(known) };
}

/** What is declared, or will be once its values are converted. */
function presentOf(definition: AttributeDefinition): Declaration {
  return definition.next ?? declarationOf(definition);
}

function stillConverting(): Problem {
  return new Problem('invalid_state', { detail: 'Its values are still being converted; see `conversion`.' });
}
