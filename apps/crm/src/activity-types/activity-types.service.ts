import { Injectable } from '@nestjs/common';
import {
  Database,
  ResourceStores,
  type Patch,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { demandsOf } from '../fields/field-changes.js';
import { readFields } from '../fields/read-fields.js';
import { Refusals } from '../fields/refusals.js';
import type { CreateActivityTypeDto, UpdateActivityTypeDto } from './activity-type.dto.js';
import { ActivityType, activityTypeEvent } from './activity-type.entity.js';
import type { LockedType } from './locked-type.js';
import { readOutcomes, removedOutcomes } from './outcome.js';
import { holdType, keepType } from './type-locks.js';
import { type ActivitiesOfType, demandFields, demandNoneEnded } from './uses-of-types.js';

const MOST_TYPES = 200;
const MOST_FIELDS = 30;

const FIND = 'SELECT id, fields FROM activity_types WHERE organization_id = $1 AND id = ANY($2::uuid[])';

/** No transaction that writes an activity takes longer. */
const SINCE = "SELECT statement_timestamp() - interval '5 minutes' AS since";

const THERE = 'SELECT FROM activity_types WHERE organization_id = $1 AND id = $2';

/** What activities can be, and what their values hold (crm.md §2). */
@Injectable()
export class ActivityTypesService {
  private readonly activityTypes: ResourceStore<ActivityType>;

  constructor(
    stores: ResourceStores,
    private readonly database: Database,
  ) {
    this.activityTypes = stores.of<ActivityType>({
      entity: ActivityType,
      module: 'crm',
      resource: 'activity_types',
      limit: MOST_TYPES,
      constraints: {
        unique: { activity_types_key: { field: 'key', pointer: '/key' } },
        references: { activities_type: { module: 'crm', resource: 'activities' } },
      },
      referencedBy: [{ table: 'activities', column: 'type_id', resource: 'activities' }],
      event: activityTypeEvent,
    });
  }

  list(context: RequestContext, query: ListQuery): Promise<Page<ActivityType>> {
    return this.activityTypes.page(context, query);
  }

  /** @throws Problem `validation_failed`, `duplicate_value`, `limit_reached` */
  create(context: RequestContext, body: CreateActivityTypeDto): Promise<ActivityType> {
    const refusals = new Refusals();
    const outcomes = readOutcomes(refusals, body.outcomes ?? []);
    const fields = readFields(refusals, body.fields ?? [], '/fields', MOST_FIELDS);
    refusals.done();
    const { key, name, outcome_required: outcomeRequired = false } = body;
    return this.activityTypes.create(context, { key, name, outcomes, outcomeRequired, fields });
  }

  get(context: RequestContext, id: string): Promise<ActivityType> {
    return this.activityTypes.get(context, id);
  }

  /**
   * @throws Problem `resource_deleted`, `etag_mismatch`, `validation_failed`; `field_in_use`, `records_incompatible`
   * where the activities that there are do not allow it
   */
  async update(context: RequestContext, id: string, body: UpdateActivityTypeDto): Promise<ActivityType> {
    // What can be refused without the row is refused before it is looked for.
    const refusals = new Refusals();
    const outcomes = body.outcomes && readOutcomes(refusals, body.outcomes);
    const fields = body.fields && readFields(refusals, body.fields, '/fields', MOST_FIELDS);
    refusals.done();
    const demand = async (tx: Transaction, type: ActivityType, since?: Date): Promise<void> => {
      const activities = { typeId: id, since };
      if (fields) await demandChange(tx, type, { fields, activities });
      if (outcomes) await demandNoneEnded(tx, activities, removedOutcomes(type.outcomes, outcomes));
    };
    const since = await this.demandBefore(context, id, demand);
    return this.alone(context, id, (tx) =>
      this.activityTypes.update(
        context,
        id,
        async (type): Promise<Patch<ActivityType>> => {
          await demand(tx, type, since);
          return { name: body.name, outcomes, outcomeRequired: body.outcome_required, fields };
        },
        { tx },
      ),
    );
  }

  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.alone(context, id, (tx) => this.activityTypes.softDelete(context, id, { tx }));
  }

  /** @throws Problem `not_deleted`, `restore_conflict`, `limit_reached` */
  restore(context: RequestContext, id: string): Promise<ActivityType> {
    return this.activityTypes.restore(context, id);
  }

  purge(context: RequestContext, id: string): Promise<void> {
    return this.activityTypes.purge(context, id);
  }

  private alone<T>(context: RequestContext, id: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.database.inOrganization(context, async (tx) => {
      await holdType(tx, id);
      return work(tx);
    });
  }

  /**
   * Demands it of all activities while others go on writing: under the lock only those are looked at that have changed
   * since the instant that it answers, and those that were under way.
   */
  private demandBefore(
    context: RequestContext,
    id: string,
    demand: (tx: Transaction, type: ActivityType) => Promise<void>,
  ): Promise<Date> {
    return this.database.inOrganization(context, async (tx) => {
      const [row] = await tx.query<{ since: Date }>(SINCE);
      const type = await this.activityTypes.get(context, id, 'any', tx);
      // A soft-deleted one is refused by the change itself.
      if (type.deletedAt === null) await demand(tx, type);
      return (row as { since: Date }).since;
    });
  }

  /** The type, soft-deleted or not, as it stays until the transaction ends; undefined if there is none. */
  async keep(context: RequestContext, tx: Transaction, id: string): Promise<LockedType | undefined> {
    await keepType(tx, id);
    const rows = await tx.query(THERE, [tx.organizationId, id]);
    return rows.length === 0 ? undefined : this.activityTypes.get(context, id, 'any', tx);
  }

  /** The fields of these types, soft-deleted ones too. */
  async fieldsOf(tx: Transaction, ids: readonly string[]): Promise<Map<string, LockedType['fields']>> {
    const rows = await tx.query<Pick<LockedType, 'id' | 'fields'>>(FIND, [
      tx.organizationId,
      [...new Set(ids)],
    ]);
    return new Map(rows.map(({ id, fields }) => [id, fields]));
  }
}

async function demandChange(
  tx: Transaction,
  type: ActivityType,
  { fields, activities }: { fields: ActivityType['fields']; activities: ActivitiesOfType },
): Promise<void> {
  const refusals = new Refusals();
  const demands = demandsOf(refusals, type.fields, fields);
  refusals.done();
  await demandFields(tx, activities, demands);
}
