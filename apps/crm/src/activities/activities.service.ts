import { Injectable } from '@nestjs/common';
import { ContactReferences, ContactRowsRegistry, contactTable } from '@customer-platform/contact-refs';
import {
  Clock,
  Database,
  ResourceStores,
  Whole,
  type Patch,
  type ReferenceSource,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ActivityTypesService } from '../activity-types/activity-types.service.js';
import type { LockedType } from '../activity-types/locked-type.js';
import { lacking, mergeValues } from '../fields/field-values.js';
import { Refusals } from '../fields/refusals.js';
import { OPEN, turn } from './activity-turns.js';
import type { CreateActivityDto, UpdateActivityDto, ShownActivity } from './activity.dto.js';
import { Activity, activityEvent, turnEvent } from './activity.entity.js';
import { Assignees } from './assignees.js';

/** What core is told before it purges a contact. */
export const ACTIVITIES_ON_CONTACTS: ReferenceSource = {
  to: 'core.contacts',
  resource: 'activities',
  count: 'SELECT count(*)::int AS count FROM activities WHERE organization_id = $1 AND contact_id = $2',
};

/** What is to be done, was done or was given up with contacts (crm.md §2). */
@Injectable()
export class ActivitiesService {
  private readonly activities: ResourceStore<Activity>;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly outbox: Outbox,
    private readonly types: ActivityTypesService,
    private readonly contacts: ContactReferences,
    private readonly assignees: Assignees,
    contactRows: ContactRowsRegistry,
    stores: ResourceStores,
  ) {
    contactRows.add(contactTable('activities', { shown: true }));
    this.activities = stores.of<Activity>({
      entity: Activity,
      module: 'crm',
      resource: 'activities',
      bookkeeping: ['originContactId', 'authorType', 'authorId'],
      event: activityEvent,
    });
  }

  /** @throws Problem `dependency_unavailable` when core must be asked who a filter's contact is and is silent */
  async list(context: RequestContext, query: ListQuery): Promise<Page<ShownActivity>> {
    const resolved = await this.contacts.resolveFilters(context.organizationId, query);
    const { data, page } = await this.activities.page(context, resolved);
    return { data: await this.shown(context, data), page };
  }

  /**
   * @throws Problem `validation_failed`; `reference_not_found`, `reference_deleted` for contact, type and assignee;
   * `dependency_unavailable` when core or identity must be asked and is silent
   */
  async create(context: RequestContext, body: CreateActivityDto): Promise<ShownActivity> {
    // Read before anybody is asked who the contact is: a body that is wrong is refused whoever it names.
    const known = await this.database.inOrganization(context, (tx) =>
      this.types.keep(context, tx, body.type_id),
    );
    if (known && known.deletedAt === null) this.contentOf(known, body);
    if (typeof body.assignee_id === 'string')
      await this.assignees.demandMember(context.organizationId, body.assignee_id);
    const reference = { id: body.contact_id, pointer: '/contact_id' };
    return this.contacts.refer(context.organizationId, reference, async (tx, contactId) => {
      const type = demandActive(await this.types.keep(context, tx, body.type_id));
      const values: Partial<Activity> = {
        contactId,
        originContactId: contactId,
        typeId: type.id,
        subject: body.subject,
        description: body.description ?? null,
        dueAt: toDate(body.due_at) ?? null,
        assigneeId: body.assignee_id ?? null,
        ...this.contentOf(type, body),
        authorType: context.principal.type,
        authorId: context.principal.id,
      };
      const activity = await this.activities.create(context, values, { tx });
      await this.outbox.append(tx, turnEvent(context.correlationId, 'open', activity));
      return { activity, fields: type.fields };
    });
  }

  async get(context: RequestContext, id: string): Promise<ShownActivity> {
    return this.shownOne(context, await this.activities.get(context, id));
  }

  /**
   * Also on a soft-deleted contact, and of a soft-deleted type.
   * @throws Problem `resource_deleted`, `etag_mismatch`, `validation_failed`, `invalid_state`; `reference_not_found`,
   * `reference_deleted`, `dependency_unavailable` for a new assignee
   */
  async update(context: RequestContext, id: string, body: UpdateActivityDto): Promise<ShownActivity> {
    await this.demandNewAssignee(context, id, body.assignee_id);
    const activity = await this.database.inOrganization(context, async (tx) => {
      let before = OPEN.status;
      const patch = async (row: Activity): Promise<Patch<Activity>> => {
        before = row.status;
        const type = await this.typeOf(context, tx, row);
        const { values, ...standing } = this.contentOf(type, body, row);
        return {
          subject: body.subject,
          description: body.description,
          dueAt: toDate(body.due_at),
          assigneeId: body.assignee_id,
          ...standing,
          // Merged already: merged once more, what was cleared would stay.
          values: new Whole(values),
        };
      };
      const row = await this.activities.update(context, id, patch, { tx });
      await this.outbox.append(tx, turnEvent(context.correlationId, before, row));
      return row;
    });
    return this.shownOne(context, activity);
  }

  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.activities.softDelete(context, id);
  }

  /** @throws Problem `not_deleted`; `records_incompatible` when its type demands a value by now that it lacks */
  async restore(context: RequestContext, id: string): Promise<ShownActivity> {
    const guard = async (tx: Transaction, row: Activity): Promise<void> => {
      const [field] = lacking((await this.typeOf(context, tx, row)).fields, row.values);
      if (field === undefined) return;
      const detail = `The activity has no value of ${field}, which its type demands by now.`;
      throw new Problem('records_incompatible', { detail, members: { field, count: 1 } });
    };
    return this.shownOne(context, await this.activities.restore(context, id, { guard }));
  }

  purge(context: RequestContext, id: string): Promise<void> {
    return this.activities.purge(context, id);
  }

  /** What the type decides: state, outcome and values after the body. */
  private contentOf(type: LockedType, body: CreateActivityDto | UpdateActivityDto, row?: Activity) {
    const refusals = new Refusals();
    const standing = turn(refusals, type, row ?? OPEN, body, this.clock.now());
    const stored = row?.values ?? {};
    const values =
      row && body.values === undefined
        ? stored
        : mergeValues(refusals, type.fields, stored, body.values ?? {});
    refusals.done();
    return { ...standing, values };
  }

  private async demandNewAssignee(
    context: RequestContext,
    id: string,
    assigneeId: string | null | undefined,
  ): Promise<void> {
    if (typeof assigneeId !== 'string') return;
    const activity = await this.activities.get(context, id);
    if (activity.deletedAt || activity.assigneeId === assigneeId.toLowerCase()) return;
    await this.assignees.demandMember(context.organizationId, assigneeId);
  }

  private async typeOf(context: RequestContext, tx: Transaction, row: Activity): Promise<LockedType> {
    const type = await this.types.keep(context, tx, row.typeId);
    if (!type) throw new Error('The type of an activity is gone, which its foreign key does not allow');
    return type;
  }

  private async shownOne(context: RequestContext, activity: Activity): Promise<ShownActivity> {
    const [shown] = await this.shown(context, [activity]);
    return shown ?? { activity, fields: [] };
  }

  private async shown(context: RequestContext, rows: readonly Activity[]): Promise<ShownActivity[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ typeId }) => typeId);
    const fields = await this.database.inOrganization(context, (tx) => this.types.fieldsOf(tx, ids));
    return rows.map((activity) => ({ activity, fields: fields.get(activity.typeId) ?? [] }));
  }
}

function demandActive(type: LockedType | undefined): LockedType {
  if (type && type.deletedAt === null) return type;
  const code = type ? 'reference_deleted' : 'reference_not_found';
  const detail = type ? 'This activity type is soft-deleted.' : 'There is no such activity type.';
  throw new Problem(code, { detail, errors: [{ pointer: '/type_id', code, detail }] });
}

function toDate(text: string | null | undefined): Date | null | undefined {
  return text === undefined || text === null ? text : new Date(text);
}
