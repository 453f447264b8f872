import { Injectable } from '@nestjs/common';
import { ContactReferences, ContactRefs, type ContactReference } from '@customer-platform/contact-refs';
import {
  Database,
  ResourceStores,
  Whole,
  type ReferenceCount,
  type ResourceChange,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import {
  turns,
  type ListQuery,
  type ListReader,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { FieldValues } from '../../fields/field.js';
import { lacking, mergeValues } from '../../fields/field-values.js';
import { Refusals } from '../../fields/refusals.js';
import type { KnownDefinition } from '../definitions/known-definition.js';
import { DEFINITION_TURNS, KnownDefinitions, neverTheSame } from '../definitions/known-definitions.js';
import { ObjectRecord, objectRecordEvent } from './object-record.entity.js';
import { OBJECT_RECORDS_LIST, recordsListOf } from './object-records.list.js';
import { contactFilters } from './contact-filters.js';
import { unsettledContacts } from './contact-record-jobs.js';
import { pageOfRecords } from './record-pages.js';
import { contactsNamed, referTo } from './record-references.js';
import type { RecordRow } from './record-row.js';
import { writeDerivedRows, type RecordState } from './derived-rows.js';

const REFERRING = `
  SELECT count(*)::int AS count FROM object_references
   WHERE organization_id = $1 AND target_id = $2 AND record_id <> $2`;

/** A record, and the definition that says what of it is shown. */
export interface ShownRecord {
  readonly definition: KnownDefinition;
  readonly record: Pick<ObjectRecord, 'id' | 'values' | 'createdAt' | 'updatedAt' | 'deletedAt'>;
}

type Contacts = ReadonlyMap<string, ContactReference>;

/**
 * Records of custom objects (crm.md §3). Each is written by its definition as it stands when the writing commits: who
 * writes keeps the definition, and looks whether it is still the one that was gone by.
 */
@Injectable()
export class ObjectRecordsService {
  constructor(
    private readonly database: Database,
    private readonly definitions: KnownDefinitions,
    private readonly contacts: ContactReferences,
    private readonly refs: ContactRefs,
    private readonly stores: ResourceStores,
  ) {}

  /**
   * @throws Problem `not_found`, those of a list, `index_building`; `dependency_unavailable` when core must be asked who
   * a filter's contact is and is silent, or where the definition does not stay the same for long enough
   */
  async list(
    context: RequestContext,
    named: string,
    read: ListReader,
  ): Promise<{ definition: KnownDefinition; page: Page<RecordRow> }> {
    for await (const _ of turns({ most: DEFINITION_TURNS })) {
      const definition = await this.database.inOrganization(context, (tx) =>
        this.definitions.find(tx, named),
      );
      // What is wrong whatever the definition says is refused before its absence.
      if (!definition) read(OBJECT_RECORDS_LIST);
      if (!definition) throw new Problem('not_found');
      const query = await this.resolved(context, definition, read(recordsListOf(definition)));
      const page = await this.database.inOrganization(context, async (tx) => {
        const now = await this.definitions.find(tx, definition.id);
        return now?.revision === definition.revision ? pageOfRecords(tx, definition, query) : undefined;
      });
      if (page) return { definition, page };
    }
    throw neverTheSame();
  }

  /**
   * @throws Problem `not_found`, `definition_deleted`, `validation_failed`, `duplicate_value`, `reference_not_found`,
   * `reference_deleted`, `dependency_unavailable`
   */
  create(context: RequestContext, named: string, given: FieldValues): Promise<ShownRecord> {
    return this.definitions.by(context, named, async (definition) => {
      // Read before anybody is asked who a contact is: a body that is wrong is refused whoever it names.
      const values = definition.isDeleted ? {} : merged(definition, {}, given);
      const named = contactsNamed(definition, values);
      return this.writing(context, definition, named, async (tx, contacts) => {
        demandActive(definition);
        const whole = await referTo(tx, definition, values, { contacts });
        const record = await this.storeOf(definition).create(
          context,
          { definitionId: definition.id, values: whole },
          { tx },
        );
        return { definition, record };
      });
    });
  }

  /** @throws Problem `not_found` */
  get(context: RequestContext, named: string, id: string): Promise<ShownRecord> {
    return this.database.inOrganization(context, async (tx) => {
      const definition = await this.definitions.find(tx, named);
      if (!definition) throw new Problem('not_found');
      return { definition, record: await this.storeOf(definition).get(context, id, 'any', tx) };
    });
  }

  /** @throws Problem as `create`; `resource_deleted`, `etag_mismatch` */
  update(
    context: RequestContext,
    named: string,
    id: string,
    given: FieldValues | undefined,
  ): Promise<ShownRecord> {
    return this.definitions.by(context, named, async (definition) => {
      const present = await this.storeOf(definition).get(context, id);
      const names = given ? contactsNamed(definition, given, present.values) : [];
      return this.writing(context, definition, present.deletedAt ? [] : names, async (tx, contacts) => {
        demandActive(definition);
        const patch = async (row: ObjectRecord) => {
          if (!given) return {};
          const values = merged(definition, row.values, given);
          // Merged already: merged once more, what was cleared would stay.
          return {
            values: new Whole(await referTo(tx, definition, values, { stored: row.values, contacts })),
          };
        };
        return { definition, record: await this.storeOf(definition).update(context, id, patch, { tx }) };
      });
    });
  }

  /** @throws Problem `not_found` */
  softDelete(context: RequestContext, named: string, id: string): Promise<void> {
    return this.definitions.by(context, named, (definition) =>
      this.writing(context, definition, [], (tx) => this.storeOf(definition).softDelete(context, id, { tx })),
    );
  }

  /**
   * @throws Problem `not_found`, `definition_deleted`, `not_deleted`, `restore_conflict`; `records_incompatible` when the
   * definition demands a value by now that it lacks
   */
  restore(context: RequestContext, named: string, id: string): Promise<ShownRecord> {
    return this.definitions.by(context, named, (definition) =>
      this.writing(context, definition, [], async (tx) => {
        const store = this.storeOf(definition);
        await store.get(context, id, 'any', tx);
        demandActive(definition);
        const guard = (_: Transaction, row: ObjectRecord): void => demandWhole(definition, row);
        return { definition, record: await store.restore(context, id, { tx, guard }) };
      }),
    );
  }

  /** @throws Problem `not_found`, `not_soft_deleted`; `resource_referenced` while other records refer to it */
  purge(context: RequestContext, named: string, id: string): Promise<void> {
    let references: ReferenceCount[] = [];
    return this.definitions.by(context, named, (definition) =>
      this.writing(context, definition, [], (tx) =>
        this.storeOf(definition).purge(context, id, {
          tx,
          guard: async (inner) => {
            const [row] = await inner.query<{ count: number }>(REFERRING, [inner.organizationId, id]);
            references = [{ module: 'crm', resource: 'objects', count: row?.count ?? 0 }];
          },
          references: () => references,
        }),
      ),
    );
  }

  /**
   * Contacts first, then the definition, then records, as everywhere: whoever takes them in one order waits for the
   * others instead of deadlocking.
   */
  private writing<T>(
    context: RequestContext,
    definition: KnownDefinition,
    contactIds: readonly string[],
    work: (tx: Transaction, contacts: Contacts) => Promise<T>,
  ): Promise<T> {
    const keeping = async (tx: Transaction, contacts: Contacts): Promise<T> => {
      await this.definitions.keep(tx, definition);
      return work(tx, contacts);
    };
    if (contactIds.length === 0) return this.database.inOrganization(context, (tx) => keeping(tx, new Map()));
    return this.contacts.referAll(context.organizationId, contactIds, (tx, found) =>
      keeping(tx, new Map(contactIds.flatMap((id, at) => (found[at] ? [[id, found[at]]] : [])))),
    );
  }

  private async resolved(
    { organizationId }: RequestContext,
    definition: KnownDefinition,
    query: ListQuery,
  ): Promise<ListQuery> {
    const { ids, replace } = contactFilters(definition, query);
    if (ids.length === 0) return query;
    const contacts = await this.contacts.resolve(organizationId, ids);
    return replace(contacts, await this.unsettled(organizationId));
  }

  /** By survivor, the contacts under whom records of it may still stand. */
  private unsettled(organizationId: string): Promise<Map<string, string[]>> {
    return this.database.inOrganization({ organizationId }, async (tx) => {
      const ends = [...(await this.refs.ends(tx, await unsettledContacts(tx)))];
      const present = ends.filter(([, { state }]) => state === 'active' || state === 'deleted');
      const bySurvivor = Map.groupBy(present, ([, { id }]) => id);
      return new Map([...bySurvivor].map(([id, all]) => [id, all.map(([contactId]) => contactId)]));
    });
  }

  /** A store that reaches the definition's records alone. */
  private storeOf(definition: KnownDefinition): ResourceStore<ObjectRecord> {
    const { organizationId, id: definitionId } = definition;
    return this.stores.of<ObjectRecord>({
      entity: ObjectRecord,
      module: 'crm',
      resource: 'objects',
      createdByIds: true,
      referredMeanwhile: true,
      bookkeeping: ['definitionId'],
      toldByMember: ['values'],
      constraints: { references: { object_references_target: { module: 'crm', resource: 'objects' } } },
      reach: {
        condition: `organization_id = $1 AND definition_id = '${definitionId}'`,
        key: (id) => ({ organizationId, definitionId, id }),
      },
      event: (change) => objectRecordEvent(definition, change),
      afterChange: (tx, _context, change) => writeBeside(tx, definition, change),
    });
  }
}

function merged(definition: KnownDefinition, stored: FieldValues, given: FieldValues): FieldValues {
  const refusals = new Refusals();
  const values = mergeValues(refusals, definition.fields, stored, given);
  refusals.done();
  return values;
}

function demandActive({ isDeleted }: KnownDefinition): void {
  if (isDeleted) throw new Problem('definition_deleted');
}

function demandWhole({ fields }: KnownDefinition, { values }: ObjectRecord): void {
  const [field] = lacking(fields, values);
  if (field === undefined) return;
  const detail = `The record has no value of ${field}, which its definition demands by now.`;
  throw new Problem('records_incompatible', { detail, members: { field, count: 1 } });
}

async function writeBeside(
  tx: Transaction,
  definition: KnownDefinition,
  { verb, before, row }: ResourceChange<ObjectRecord>,
): Promise<void> {
  await writeDerivedRows(tx, [
    {
      definition,
      ...(before ? { before: stateOf(before) } : {}),
      ...(verb === 'purged' ? {} : { after: stateOf(row) }),
    },
  ]);
}

function stateOf({ id, values, deletedAt }: ObjectRecord): RecordState {
  return { id, values, live: deletedAt === null };
}
