import { Controller } from '@nestjs/common';
import { Database, ReferenceHolds, type Transaction } from '@customer-platform/database';
import { type ErasedCounts, type ErasureRequested, Erasures } from '@customer-platform/erasure';
import { OnEvent } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';
import type { ContactRef } from './contact-ref.js';
import { ContactRefsRepository } from './contact-refs.repository.js';
import { ContactRowsRegistry } from './contact-rows.js';

type Change = DomainEvent<
  | 'core.contact.created.v1'
  | 'core.contact.updated.v1'
  | 'core.contact.deleted.v1'
  | 'core.contact.restored.v1'
>;
type End = DomainEvent<'core.contact.purged.v1' | 'core.contact.erased.v1'>;
type Merge = DomainEvent<'core.contact.merged.v1' | 'core.contact.unmerged.v1'>;

/**
 * Keeps `contact_refs` in step with core, and the rows that belong to contacts with them, in one transaction: whoever
 * writes such a row has locked its contact, so none slips past a merge or an end. The version of the contact is all
 * the idempotence it needs: an event that comes again, or late, changes nothing.
 */
@Controller()
export class ContactRefsConsumer {
  constructor(
    private readonly database: Database,
    private readonly refs: ContactRefsRepository,
    private readonly rows: ContactRowsRegistry,
    private readonly holds: ReferenceHolds,
    private readonly erasures: Erasures,
  ) {}

  @OnEvent([
    'core.contact.created.v1',
    'core.contact.updated.v1',
    'core.contact.deleted.v1',
    'core.contact.restored.v1',
  ])
  follow(events: Change[]): Promise<void> {
    const changes = events.flatMap((event) =>
      refsOfChange(event).map((ref) => ({ ...ref, organizationId: event.organizationid })),
    );
    return this.database.acrossOrganizations((tx) => this.refs.writeAll(tx, changes));
  }

  /** Nothing of a contact that is gone stays, soft-deleted rows included. */
  @OnEvent(['core.contact.purged.v1', 'core.contact.erased.v1'])
  followEnds(events: End[]): Promise<void> {
    return this.byOrganization(events, async (tx, own) => {
      await this.refs.write(tx, own.map(refOfEnd));
      const gone = own.map(({ data }) => data.contact_id);
      for (const rows of this.rows.all()) await rows.remove(tx, gone);
    });
  }

  /** The contact is marked first: whoever still writes for it is waited for, whoever comes later is refused. */
  @OnEvent('core.erasure.requested.v1')
  erase(requests: ErasureRequested[]): Promise<void> {
    return this.erasures.perform(requests, async (tx, contactId) => {
      await this.refs.markErased(tx, contactId);
      const counts = await this.countsOf(tx, contactId);
      for (const rows of this.rows.all()) await rows.remove(tx, [contactId]);
      return counts;
    });
  }

  @OnEvent(['core.contact.merged.v1', 'core.contact.unmerged.v1'])
  followMerges(events: Merge[]): Promise<void> {
    return this.byOrganization(events, async (tx, own) => {
      await this.refs.write(tx, own.flatMap(refsOfMerge));
      const concerned = own.flatMap(({ data }) => [data.survivor_id, data.merged_id]);
      await this.moveRows(tx, [...new Set(concerned)]);
    });
  }

  /**
   * Every row goes to where the merges of the contact it was written on end now. So a merge moves it, an undo moves it
   * back, and a repeat or another order of the two changes nothing.
   */
  private async moveRows(tx: Transaction, contactIds: readonly string[]): Promise<void> {
    for (const rows of this.rows.all()) {
      const ends = await this.refs.follow(tx, await rows.origins(tx, contactIds));
      // Where a chain goes on to a contact that is not known here yet, the last one known keeps the row until it is.
      const moves = ends.map(({ asked, id }) => ({ origin: asked, to: id }));
      await rows.move(tx, contactIds, moves);
    }
  }

  private async countsOf(tx: Transaction, contactId: string): Promise<ErasedCounts> {
    const references = await this.holds.count(tx, 'core.contacts', contactId);
    return Object.fromEntries(references.map(({ resource, count }) => [resource, count]));
  }

  private async byOrganization<E extends DomainEvent>(
    events: readonly E[],
    work: (tx: Transaction, own: E[]) => Promise<void>,
  ): Promise<void> {
    await this.database.forEachOrganization(events, ({ organizationid }) => organizationid, work);
  }
}

function refsOfChange({ type, data }: Change): ContactRef[] {
  const ref = (state: ContactRef['state']): ContactRef[] => [
    { id: data.contact_id, state, mergedInto: null, version: data.version },
  ];
  switch (type) {
    case 'core.contact.deleted.v1':
      return ref('deleted');
    case 'core.contact.restored.v1':
      return ref('active');
    case 'core.contact.created.v1':
    case 'core.contact.updated.v1':
      // Into which contact one was merged only the event of the merge says.
      return data.contact.state === 'merged' ? [] : ref(data.contact.state);
  }
}

function refOfEnd({ type, data }: End): ContactRef {
  const state = type === 'core.contact.purged.v1' ? 'purged' : 'erased';
  return { id: data.contact_id, state, mergedInto: null, version: data.version };
}

function refsOfMerge({ type, data }: Merge): ContactRef[] {
  const merged = type === 'core.contact.merged.v1';
  return [
    { id: data.survivor_id, state: 'active', mergedInto: null, version: data.survivor_version },
    {
      id: data.merged_id,
      state: merged ? 'merged' : 'active',
      mergedInto: merged ? data.survivor_id : null,
      version: data.merged_version,
    },
  ];
}
