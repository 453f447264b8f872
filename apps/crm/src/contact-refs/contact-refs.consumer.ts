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
import { beginErasure, isUnderWay } from './erasures-under-way.js';

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

  /**
   * The contact is marked first: whoever still writes for it is waited for, whoever comes later is refused. Where more is
   * left than one transaction should remove, the receipt comes with the last piece.
   */
  @OnEvent('core.erasure.requested.v1')
  erase(requests: ErasureRequested[]): Promise<void> {
    return this.erasures.perform(requests, {
      family: (tx, contactId) => this.refs.withMerged(tx, contactId),
      erase: (tx, contactId, request) => this.eraseOne(tx, contactId, request),
    });
  }

  private async eraseOne(
    tx: Transaction,
    contactId: string,
    request: ErasureRequested,
  ): Promise<ErasedCounts | undefined> {
    if (await isUnderWay(tx, request)) return undefined;
    await this.refs.erase(tx, [contactId]);
    const counts: Record<string, number> = { ...(await this.countsOf(tx, contactId)) };
    for (const rows of this.rows.all()) await rows.remove?.(tx, [contactId]);
    let isDone = true;
    for (const rows of this.rows.allSettled()) {
      const settled = await rows.settle(tx, [contactId]);
      counts[rows.resource] = settled.removed;
      isDone &&= settled.isDone;
    }
    if (isDone) return counts;
    await beginErasure(tx, request, await this.refs.withMerged(tx, contactId), counts);
    return undefined;
  }

  private async countsOf(tx: Transaction, contactId: string): Promise<ErasedCounts> {
    const references = await this.holds.count(tx, 'core.contacts', contactId);
    return Object.fromEntries(references.map(({ resource, count }) => [resource, count]));
  }
}
