import { Injectable } from '@nestjs/common';
import {
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
import type { KeptType } from './kept-type.js';
import { readOutcomes, removedOutcomes } from './outcome.js';
import { demandFields, demandNoneEnded } from './uses-of-types.js';

const MOST_TYPES = 200;
const MOST_FIELDS = 30;

const FIND = 'SELECT id, fields FROM activity_types WHERE organization_id = $1 AND id = ANY($2::uuid[])';

/** Shared by those who write activities of the type; a change of the type waits for them, and they for it. */
const KEEP = 'SELECT id FROM activity_types WHERE organization_id = $1 AND id = $2 FOR SHARE';

/** What activities can be, and what their values hold (crm.md §2). */
@Injectable()
export class ActivityTypesService {
  private readonly activityTypes: ResourceStore<ActivityType>;

  constructor(stores: ResourceStores) {
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
  update(context: RequestContext, id: string, body: UpdateActivityTypeDto): Promise<ActivityType> {
    // What can be refused without the row is refused before it is looked for.
    const refusals = new Refusals();
    const outcomes = body.outcomes && readOutcomes(refusals, body.outcomes);
    const fields = body.fields && readFields(refusals, body.fields, '/fields', MOST_FIELDS);
    refusals.done();
    return this.activityTypes.update(context, id, async (type, tx): Promise<Patch<ActivityType>> => {
      if (fields) await demandChange(tx, type, fields);
      if (outcomes) await demandNoneEnded(tx, id, removedOutcomes(type.outcomes, outcomes));
      return { name: body.name, outcomes, outcomeRequired: body.outcome_required, fields };
    });
  }

  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.activityTypes.softDelete(context, id);
  }

  /** @throws Problem `not_deleted`, `restore_conflict`, `limit_reached` */
  restore(context: RequestContext, id: string): Promise<ActivityType> {
    return this.activityTypes.restore(context, id);
  }

  purge(context: RequestContext, id: string): Promise<void> {
    return this.activityTypes.purge(context, id);
  }

  /** The type, soft-deleted or not, as it stays until the transaction ends; undefined if there is none. */
  async keep(context: RequestContext, tx: Transaction, id: string): Promise<KeptType | undefined> {
    const rows = await tx.query(KEEP, [tx.organizationId, id]);
    return rows.length === 0 ? undefined : this.activityTypes.get(context, id, 'any', tx);
  }

  /** The fields of these types, soft-deleted ones too. */
  async fieldsOf(tx: Transaction, ids: readonly string[]): Promise<Map<string, KeptType['fields']>> {
    const rows = await tx.query<Pick<KeptType, 'id' | 'fields'>>(FIND, [
      tx.organizationId,
      [...new Set(ids)],
    ]);
    return new Map(rows.map(({ id, fields }) => [id, fields]));
  }
}

async function demandChange(
  tx: Transaction,
  type: ActivityType,
  fields: ActivityType['fields'],
): Promise<void> {
  const refusals = new Refusals();
  const demands = demandsOf(refusals, type.fields, fields);
  refusals.done();
  await demandFields(tx, type.id, demands);
}
