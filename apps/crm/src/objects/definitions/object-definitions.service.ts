import { Injectable } from '@nestjs/common';
import {
  Database,
  ResourceStores,
  sameJson,
  type Patch,
  type ReferenceCount,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { ObjectField } from '../../fields/field.js';
import { objectDemands, readObjectFields, targetsOf } from '../../fields/object-fields.js';
import { Refusals } from '../../fields/refusals.js';
import { IndexBuilder } from '../indexing/index-builder.js';
import { beginBuilding, beginDropping, readProgress } from '../indexing/index-jobs.js';
import { demandFields } from './demand-fields.js';
import { holdDefinition, holdDefinitions } from './definition-locks.js';
import { planIndexes, type IndexPlan } from './known-definition.js';
import type {
  CreateObjectDefinitionDto,
  UpdateObjectDefinitionDto,
  ShownDefinition,
} from './object-definition.dto.js';
import { ObjectDefinition, objectDefinitionEvent } from './object-definition.entity.js';
import { forgetTally, readTallies, readTally } from './tallies.js';

/** Active ones of an organization. */
const MOST_DEFINITIONS = 50;

const RAISE = 'UPDATE object_definitions SET revision = revision + 1 WHERE organization_id = $1 AND id = $2';
const TARGETS = `
  SELECT id, deleted_at IS NOT NULL AS deleted FROM object_definitions
   WHERE organization_id = $1 AND id = ANY($2::uuid[])`;
const REFERRING = `
  SELECT count(*)::int AS count FROM object_definitions
   WHERE organization_id = $1 AND id <> $2 AND fields @> jsonb_build_array(jsonb_build_object('target', $2::uuid))`;

/**
 * What custom objects hold (crm.md §3). A change waits for those who write records of the definition, and they for it;
 * what it asks of the records is answered by counts.
 */
@Injectable()
export class ObjectDefinitionsService {
  private readonly definitions: ResourceStore<ObjectDefinition>;

  constructor(
    private readonly database: Database,
    private readonly builder: IndexBuilder,
    stores: ResourceStores,
  ) {
    this.definitions = stores.of<ObjectDefinition>({
      entity: ObjectDefinition,
      module: 'crm',
      resource: 'object_definitions',
      limit: MOST_DEFINITIONS,
      largeRows: true,
      constraints: { unique: { object_definitions_slug: { field: 'slug', pointer: '/slug' } } },
      bookkeeping: ['indexes', 'nextNumber', 'revision'],
      event: objectDefinitionEvent,
      afterChange: async (tx, _context, { verb, row }) => {
        if (verb === 'deleted' || verb === 'restored') await tx.query(RAISE, [tx.organizationId, row.id]);
        if (verb === 'purged') await forgetTally(tx, row.id);
      },
    });
  }

  async list(context: RequestContext, query: ListQuery): Promise<Page<ShownDefinition>> {
    const { data, page } = await this.definitions.page(context, query);
    const shown = await this.database.inOrganization(context, (tx) => shownAll(tx, data));
    return { data: shown, page };
  }

  /** @throws Problem `validation_failed`, `duplicate_value`, `limit_reached`, `reference_not_found`, `reference_deleted` */
  async create(context: RequestContext, body: CreateObjectDefinitionDto): Promise<ShownDefinition> {
    const refusals = new Refusals();
    const fields = readObjectFields(refusals, body.fields ?? []);
    refusals.done();
    const { indexes, nextNumber } = planIndexes([], fields, 1, true);
    return this.database.inOrganization(context, async (tx) => {
      await holdDefinitions(tx);
      await demandTargets(tx, fields, []);
      const { slug, name } = body;
      const values = { slug, name, fields, indexes: [...indexes], nextNumber, revision: 1 };
      return shown(tx, await this.definitions.create(context, values, { tx }));
    });
  }

  get(context: RequestContext, id: string): Promise<ShownDefinition> {
    return this.database.inOrganization(context, async (tx) =>
      shown(tx, await this.definitions.get(context, id, 'any', tx)),
    );
  }

  /**
   * @throws Problem `resource_deleted`, `etag_mismatch`, `validation_failed`, `reference_not_found`,
   * `reference_deleted`; `field_in_use`, `records_incompatible` where the records that there are do not allow it
   */
  async update(
    context: RequestContext,
    id: string,
    body: UpdateObjectDefinitionDto,
  ): Promise<ShownDefinition> {
    const refusals = new Refusals();
    const fields = body.fields && readObjectFields(refusals, body.fields);
    refusals.done();
    await this.holding(context, id, async (tx) => {
      let plan: IndexPlan | undefined;
      const patch = async (before: ObjectDefinition): Promise<Patch<ObjectDefinition>> => {
        if (!fields || sameJson(before.fields, fields)) return { name: body.name };
        plan = await changeFields(tx, before, fields);
        return {
          name: body.name,
          fields,
          indexes: [...plan.indexes],
          nextNumber: plan.nextNumber,
          revision: before.revision + 1,
        };
      };
      await this.definitions.update(context, id, patch, { tx });
      if (!plan) return;
      const { records } = await readTally(tx, id);
      await beginBuilding(tx, id, plan.built, records);
      await beginDropping(tx, id, plan.dropped);
    });
    // Where records are few, their indexes are ready when the answer is given.
    await this.builder.begin(context.organizationId, id);
    return this.get(context, id);
  }

  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.holding(context, id, (tx) => this.definitions.softDelete(context, id, { tx }));
  }

  /** @throws Problem `not_deleted`, `restore_conflict`, `limit_reached` */
  async restore(context: RequestContext, id: string): Promise<ShownDefinition> {
    return this.holding(context, id, async (tx) =>
      shown(tx, await this.definitions.restore(context, id, { tx })),
    );
  }

  /** @throws Problem `not_soft_deleted`; `resource_referenced` while it has records in any state, or is another's target */
  purge(context: RequestContext, id: string): Promise<void> {
    let references: ReferenceCount[] = [];
    return this.holding(context, id, (tx) =>
      this.definitions.purge(context, id, {
        tx,
        guard: async (inner, definition) => {
          references = await referencesTo(inner, id);
          const numbers = definition.indexes.flatMap(({ number, claim }) => [number, claim ?? number]);
          await beginDropping(inner, id, [...new Set(numbers)]);
        },
        references: () => references,
      }),
    );
  }

  private holding<T>(context: RequestContext, id: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.database.inOrganization(context, async (tx) => {
      await holdDefinitions(tx);
      await holdDefinition(tx, id);
      return work(tx);
    });
  }
}

async function changeFields(
  tx: Transaction,
  before: ObjectDefinition,
  fields: readonly ObjectField[],
): Promise<IndexPlan> {
  const refusals = new Refusals();
  const demands = objectDemands(refusals, before.fields, fields);
  refusals.done();
  await demandTargets(tx, fields, before.fields);
  const tally = await readTally(tx, before.id);
  demandFields(tally, demands);
  return planIndexes(before.indexes, fields, before.nextNumber, tally.records === 0);
}

/** What fields refer to for the first time must be there, and active. */
async function demandTargets(
  tx: Transaction,
  fields: readonly ObjectField[],
  before: readonly ObjectField[],
): Promise<void> {
  const former = new Set(targetsOf(before).map(({ target }) => target));
  const asked = targetsOf(fields).filter(({ target }) => !former.has(target));
  if (asked.length === 0) return;
  const rows = await tx.query<{ id: string; deleted: boolean }>(TARGETS, [
    tx.organizationId,
    asked.map(({ target }) => target),
  ]);
  for (const { target, index } of asked) {
    const found = rows.find(({ id }) => id === target);
    if (found && !found.deleted) continue;
    const code = found ? 'reference_deleted' : 'reference_not_found';
    const detail = found ? 'This definition is soft-deleted.' : 'There is no such definition.';
    throw new Problem(code, {
      detail,
      errors: [{ pointer: `/fields/${String(index)}/target`, code, detail }],
    });
  }
}

async function referencesTo(tx: Transaction, id: string): Promise<ReferenceCount[]> {
  const { records } = await readTally(tx, id);
  const [row] = await tx.query<{ count: number }>(REFERRING, [tx.organizationId, id]);
  return [
    { module: 'crm', resource: 'objects', count: records },
    { module: 'crm', resource: 'object_definitions', count: row?.count ?? 0 },
  ];
}

async function shownAll(
  tx: Transaction,
  definitions: readonly ObjectDefinition[],
): Promise<ShownDefinition[]> {
  const ids = definitions.map(({ id }) => id);
  const tallies = await readTallies(tx, ids);
  const progress = await readProgress(tx, ids);
  return definitions.map((definition) => ({
    definition,
    recordCount: tallies.get(definition.id)?.active ?? 0,
    progress: progress.get(definition.id) ?? new Map(),
  }));
}

async function shown(tx: Transaction, definition: ObjectDefinition): Promise<ShownDefinition> {
  const [only] = await shownAll(tx, [definition]);
  return only ?? { definition, recordCount: 0, progress: new Map() };
}
