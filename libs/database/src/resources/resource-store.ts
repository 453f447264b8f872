import { requireMatch, type ListQuery, type Page, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { DeepPartial, FindOptionsWhere, QueryDeepPartialEntity } from 'typeorm';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import { newId, timeOfId } from '../ids.js';
import { pageOf } from '../lists/page-of.js';
import type { RemoteHold } from '../references/remote-references.js';
import type { Transaction } from '../transaction.js';
import type { ChangeRecorder } from './change-recorder.js';
import { constraintProblem } from './constraints.js';
import { EntityTable } from './entity-table.js';
import { versionTag } from './etag.js';
import { changedMembers, patched, sameJson, type Whole } from './merge-patch.js';
import type {
  ChangeOptions,
  ResourceChange,
  ResourceDefinition,
  SoftDeletable,
  Visibility,
} from './resource-definition.js';
import { writeUnique } from './unique-write.js';
import { countReferences, enforceLimit } from './resource-limits.js';

/** The new values of an update: absent properties stay, null clears, nested plain objects merge unless `whole`. */
export type Patch<E> = Partial<{ [P in keyof E]: E[P] | null | DeepPartial<E[P]> | Whole<E[P]> }>;

/** What an update adds to `ChangeOptions`. */
interface UpdateOptions<E> extends ChangeOptions<E> {
  /** Instead of the request's own `If-Match`. */
  ifMatch?: string | undefined;
}

/**
 * A soft-deletable resource (contract.md §4) in its organization. Services hold one; it is never extended. Every
 * change locks its row, and commits with its audit row and its event or not at all. Each method throws `not_found`
 * for an id that is not the organization's.
 */
export class ResourceStore<E extends SoftDeletable> {
  constructor(
    private readonly database: Database,
    private readonly recorder: ChangeRecorder,
    private readonly clock: Clock,
    private readonly definition: ResourceDefinition<E>,
  ) {}

  /** A page of the list; `scope` narrows it by a trusted SQL condition over the table's columns, `$2…` its values. */
  async page(
    context: RequestContext,
    query: ListQuery,
    scope?: { sql: string; values: unknown[] },
  ): Promise<Page<E>> {
    return this.database.inOrganization(context, (tx) => {
      const table = this.table(tx);
      const live = query.visibility === 'live' ? 'AND deleted_at IS NULL' : '';
      const narrowed = scope ? `AND (${scope.sql})` : '';
      const seen = this.definition.reach?.condition ?? 'organization_id = $1';
      const select = `SELECT * FROM ${table.name} WHERE ${seen} ${live} ${narrowed}`;
      return pageOf<Record<string, unknown>, E>(tx, select, query, {
        parameters: [context.organizationId, ...(scope?.values ?? [])],
        map: (row) => table.toEntity(row),
        ...(this.definition.largeRows ? { largeRows: true } : {}),
      });
    });
  }

  /** One row, soft-deleted or not unless told otherwise. */
  async get(
    context: RequestContext,
    id: string,
    visibility: Visibility = 'any',
    tx?: Transaction,
  ): Promise<E> {
    return this.within(context, tx, async (inner) => {
      const row = await inner.manager.findOne(this.definition.entity, { where: this.key(context, id) });
      if (!row || !visible(row, visibility)) throw new Problem('not_found');
      return row;
    });
  }

  /** Inserts a row; its id, times and organization are set here. */
  async create(context: RequestContext, values: Partial<E>, options: ChangeOptions<E> = {}): Promise<E> {
    return this.within(context, options.tx, async (tx) => {
      const id = values.id ?? newId();
      const now = this.definition.createdByIds ? timeOfId(id) : this.clock.now();
      const row = {
        ...values,
        id,
        organizationId: context.organizationId,
        createdAt: now,
        updatedAt: now,
        deletedAt: null,
      } as E;
      await enforceLimit(tx, this.definition, this.table(tx).name);
      await options.guard?.(tx, row);
      await writeUnique(tx, this.definition, this.table(tx), row, async () => {
        await tx.manager.insert(this.definition.entity, row as QueryDeepPartialEntity<E>);
      });
      const stored = await this.get(context, row.id, 'any', tx);
      const changed = [...namesOf(values), ...(options.furtherFields ?? [])];
      await this.changed(tx, context, { verb: 'created', row: stored, changed }, options);
      return stored;
    });
  }

  /**
   * Applies a JSON merge patch, given as values or as a function of the locked row (to check the merged state).
   * What changes nothing writes nothing: same `updatedAt`, no audit row, no event.
   * @throws Problem `resource_deleted`, `etag_mismatch`, `duplicate_value`
   */
  async update(
    context: RequestContext,
    id: string,
    patch: Patch<E> | ((row: E, tx: Transaction) => Patch<E> | Promise<Patch<E>>),
    options: UpdateOptions<E> = {},
  ): Promise<E> {
    return this.within(context, options.tx, async (tx) => {
      const before = await this.lock(tx, context, id);
      if (before.deletedAt) throw new Problem('resource_deleted');
      requireMatch(options.ifMatch ?? context.ifMatch, versionTag(before));
      await options.guard?.(tx, before);
      const changes = differences(before, typeof patch === 'function' ? await patch(before, tx) : patch);
      const changed = Object.keys(changes);
      if (changed.length === 0) return before;
      const row = await this.write(tx, before, changes as Partial<E>);
      await this.changed(tx, context, { verb: 'updated', before, row, changed }, options);
      return row;
    });
  }

  /** Writes `deletedAt`. A repeat changes nothing and succeeds, whatever it matches. @throws Problem `etag_mismatch` */
  async softDelete(context: RequestContext, id: string, options: ChangeOptions<E> = {}): Promise<void> {
    await this.within(context, options.tx, async (tx) => {
      const before = await this.lock(tx, context, id);
      if (before.deletedAt) return;
      requireMatch(context.ifMatch, versionTag(before));
      await options.guard?.(tx, before);
      const row = await this.write(tx, before, { deletedAt: this.nextInstant(before) } as Partial<E>);
      await this.changed(tx, context, { verb: 'deleted', before, row, changed: ['deletedAt'] }, options);
    });
  }

  /**
   * Takes a soft delete back.
   * @throws Problem `not_deleted`, `etag_mismatch`; `restore_conflict` with `conflicting_id` when an active row has its unique value now
   */
  async restore(context: RequestContext, id: string, options: ChangeOptions<E> = {}): Promise<E> {
    return this.within(context, options.tx, async (tx) => {
      await enforceLimit(tx, this.definition, this.table(tx).name, id);
      const before = await this.lock(tx, context, id);
      if (!before.deletedAt) throw new Problem('not_deleted');
      requireMatch(context.ifMatch, versionTag(before));
      await options.guard?.(tx, before);
      const row = await this.write(tx, before, { deletedAt: null } as Partial<E>, true);
      await this.changed(tx, context, { verb: 'restored', before, row, changed: ['deletedAt'] }, options);
      return row;
    });
  }

  /**
   * Removes a soft-deleted row for good.
   * @throws Problem `not_soft_deleted`, `etag_mismatch`; `resource_referenced` with `references` while rows of any module point to it;
   * `dependency_unavailable` when a module that may point to it is silent: nothing is removed then
   */
  async purge(context: RequestContext, id: string, options: ChangeOptions<E> = {}): Promise<void> {
    let hold: RemoteHold | undefined;
    const work = async (tx: Transaction): Promise<void> => {
      // Of a transaction that begins anew: what it holds elsewhere is not its own any more.
      await hold?.release();
      hold = undefined;
      const row = await this.lock(tx, context, id, true);
      if (!row.deletedAt) throw new Problem('not_soft_deleted');
      requireMatch(context.ifMatch, versionTag(row));
      await options.guard?.(tx, row);
      hold = await countReferences(tx, this.definition, id, options.references?.());
      const change: ResourceChange<E> = { verb: 'purged', before: row, row, changed: [] };
      await this.definition.afterChange?.(tx, context, change);
      try {
        await tx.manager.delete(this.definition.entity, this.key(context, id));
      } catch (error) {
        throw constraintProblem(error, this.definition.constraints ?? {});
      }
      await this.tell(tx, context, change, options);
      hold?.demandStanding();
    };
    try {
      await this.within(context, options.tx, work);
    } catch (error) {
      await hold?.release();
      throw error;
    }
  }

  /** The row, locked until the transaction ends. For a service's own changes that go through `update` afterwards. */
  async lock(tx: Transaction, context: RequestContext, id: string, purging = false): Promise<E> {
    const isShared = this.definition.referredMeanwhile === true && !purging;
    const row = await tx.manager.findOne(this.definition.entity, {
      where: this.key(context, id),
      lock: { mode: isShared ? 'for_no_key_update' : 'pessimistic_write' },
    });
    if (!row) throw new Problem('not_found');
    return row;
  }

  private async write(tx: Transaction, before: E, changes: Partial<E>, restoring = false): Promise<E> {
    const values = { ...changes, updatedAt: this.nextInstant(before) };
    const row = Object.assign(Object.create(Object.getPrototypeOf(before) as object), before, values) as E;
    const key = { organizationId: before.organizationId, id: before.id } as FindOptionsWhere<E>;
    await writeUnique(
      tx,
      this.definition,
      this.table(tx),
      row,
      async () => {
        await tx.manager.update(this.definition.entity, key, values as QueryDeepPartialEntity<E>);
      },
      restoring,
    );
    return row;
  }

  /** `updatedAt` grows with every change, also within one millisecond, so that an ETag never names two states. */
  private nextInstant(before: E): Date {
    return new Date(Math.max(this.clock.now().getTime(), before.updatedAt.getTime() + 1));
  }

  private async changed(
    tx: Transaction,
    context: RequestContext,
    change: ResourceChange<E>,
    options: ChangeOptions<E>,
  ): Promise<void> {
    await this.definition.afterChange?.(tx, context, change);
    await this.tell(tx, context, change, options);
  }

  private async tell(
    tx: Transaction,
    context: RequestContext,
    change: ResourceChange<E>,
    options: ChangeOptions<E>,
  ): Promise<void> {
    const { module, resource, event } = this.definition;
    const table = this.table(tx);
    const published = event?.(change);
    // As `updatedAt` grows with every change, whoever keeps a state knows an older one by its time. A purge has none.
    const time = change.verb === 'purged' ? undefined : change.row.updatedAt.toISOString();
    await this.recorder.record(tx, context, {
      verb: change.verb,
      resource: `${module}.${resource}`,
      id: change.row.id,
      changedFields: this.toldNames(table, change, options.furtherFields ?? []),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
      ...(published ? { event: { ...(time === undefined ? {} : { time }), ...published } } : {}),
    });
  }

  private toldNames(
    table: EntityTable<E>,
    { before, row, changed }: ResourceChange<E>,
    further: readonly string[],
  ): string[] {
    const byMember: readonly string[] = this.definition.toldByMember ?? [];
    const bookkeeping: readonly string[] = this.definition.bookkeeping ?? [];
    const names: Record<string, string | ((before: E, after: E) => readonly string[]) | undefined> =
      this.definition.fieldNames ?? {};
    return changed
      .filter((property) => !bookkeeping.includes(property))
      .flatMap((property) => {
        const given = names[property];
        if (typeof given === 'function') return before ? given(before, row) : [];
        const name = further.includes(property) ? property : (given ?? table.columnOf(property));
        if (!before || !byMember.includes(property)) return [name];
        const key = property as keyof E;
        return [name, ...changedMembers(before[key], row[key]).map((member) => `${name}.${member}`)];
      });
  }

  private within<T>(
    context: RequestContext,
    tx: Transaction | undefined,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    return tx ? work(tx) : this.database.inOrganization(context, work);
  }

  private key(context: RequestContext, id: string): FindOptionsWhere<E> {
    const own = { organizationId: context.organizationId, id } as FindOptionsWhere<E>;
    return this.definition.reach?.key(id) ?? own;
  }

  private table(tx: Transaction): EntityTable<E> {
    return new EntityTable(tx.manager, this.definition.entity);
  }
}

/** The properties that were given; a DTO declares those that were not as undefined. */
function namesOf(values: object): string[] {
  return Object.entries(values).flatMap(([property, value]) => (value === undefined ? [] : [property]));
}

function visible(row: SoftDeletable, visibility: Visibility): boolean {
  if (visibility === 'any') return true;
  return (row.deletedAt === null) === (visibility === 'live');
}

/** The properties whose merged value differs from what is stored. */
function differences<E extends object>(before: E, patch: Patch<E>): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const [property, given] of Object.entries(patch)) {
    if (given === undefined) continue;
    const current = (before as Record<string, unknown>)[property];
    const merged = patched(current, given);
    if (!sameJson(current, merged)) changes[property] = merged;
  }
  return changes;
}
