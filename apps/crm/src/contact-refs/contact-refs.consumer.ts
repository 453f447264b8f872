import { Controller } from '@nestjs/common';
import {
  CONTACT_EVENTS,
  ContactFollower,
  ContactRefs,
  ContactRowsRegistry,
  type ContactEvent,
} from '@customer-platform/contact-refs';
import { ReferenceHolds, type Transaction } from '@customer-platform/database';
import { type ErasedCounts, type ErasureRequested, Erasures } from '@customer-platform/erasure';
import { OnEvent } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';

/** What core tells of contacts. One class, so that a contact's events keep their order across types. */
@Controller()
export class ContactRefsConsumer {
  constructor(
    private readonly follower: ContactFollower,
    private readonly refs: ContactRefs,
    private readonly rows: ContactRowsRegistry,
    private readonly holds: ReferenceHolds,
    private readonly erasures: Erasures,
  ) {}

  @OnEvent(CONTACT_EVENTS)
  follow(events: DomainEvent<ContactEvent>[]): Promise<void> {
    return this.follower.follow(events);
  }

  /** The contact is marked first: whoever still writes for it is waited for, whoever comes later is refused. */
  @OnEvent('core.erasure.requested.v1')
  erase(requests: ErasureRequested[]): Promise<void> {
    return this.erasures.perform(requests, {
      family: (tx, contactId) => this.refs.withMerged(tx, contactId),
      erase: async (tx, contactId) => {
        await this.refs.erase(tx, [contactId]);
        const counts = await this.countsOf(tx, contactId);
        for (const rows of this.rows.all()) await rows.remove?.(tx, [contactId]);
        return counts;
      },
    });
  }

  private async countsOf(tx: Transaction, contactId: string): Promise<ErasedCounts> {
    const references = await this.holds.count(tx, 'core.contacts', contactId);
    return Object.fromEntries(references.map(({ resource, count }) => [resource, count]));
  }
}
