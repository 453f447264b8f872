import { Controller } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { OnEvent } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';
import type { ContactRef } from './contact-ref.js';
import { ContactRefsRepository } from './contact-refs.repository.js';

type Change = DomainEvent<
  | 'core.contact.created.v1'
  | 'core.contact.updated.v1'
  | 'core.contact.deleted.v1'
  | 'core.contact.restored.v1'
  | 'core.contact.purged.v1'
  | 'core.contact.erased.v1'
>;
type Merge = DomainEvent<'core.contact.merged.v1' | 'core.contact.unmerged.v1'>;

/**
 * Keeps `contact_refs` in step with core. The version of the contact is all the idempotence it needs: an event that
 * comes again, or late, changes nothing.
 */
@Controller()
export class ContactRefsConsumer {
  constructor(
    private readonly database: Database,
    private readonly refs: ContactRefsRepository,
  ) {}

  @OnEvent([
    'core.contact.created.v1',
    'core.contact.updated.v1',
    'core.contact.deleted.v1',
    'core.contact.restored.v1',
    'core.contact.purged.v1',
    'core.contact.erased.v1',
  ])
  follow(events: Change[]): Promise<void> {
    return this.write(events, refsOfChange);
  }

  @OnEvent(['core.contact.merged.v1', 'core.contact.unmerged.v1'])
  followMerges(events: Merge[]): Promise<void> {
    return this.write(events, refsOfMerge);
  }

  private async write<E extends Change | Merge>(
    events: E[],
    refsOf: (event: E) => ContactRef[],
  ): Promise<void> {
    const byOrganization = new Map<string, ContactRef[]>();
    for (const event of events) {
      const refs = byOrganization.get(event.organizationid) ?? [];
      refs.push(...refsOf(event));
      byOrganization.set(event.organizationid, refs);
    }
    await this.database.acrossOrganizations(async (tx) => {
      for (const [organizationId, refs] of [...byOrganization].sort(([a], [b]) => (a < b ? -1 : 1))) {
        await tx.useOrganization(organizationId);
        await this.refs.write(tx, refs);
      }
    });
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
    case 'core.contact.purged.v1':
      return ref('purged');
    case 'core.contact.erased.v1':
      return ref('erased');
    case 'core.contact.created.v1':
    case 'core.contact.updated.v1':
      // Into which contact one was merged only the event of the merge says.
      return data.contact.state === 'merged' ? [] : ref(data.contact.state);
  }
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
