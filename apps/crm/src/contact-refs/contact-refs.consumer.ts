import { Controller } from '@nestjs/common';
import {
  CONTACT_EVENTS,
  ContactFollower,
  ContactRefs,
  ContactRowsRegistry,
  type ContactEvent,
} from '@customer-platform/contact-refs';
import type { Transaction } from '@customer-platform/database';
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
    private readonly erasures: Erasures,
  ) {}

  @OnEvent(CONTACT_EVENTS)
  follow(events: DomainEvent<ContactEvent>[]): Promise<void> {
    return this.follower.follow(events);
  }

  /** Where more is left than one transaction should remove, the receipt comes with the last piece. */
  @OnEvent('core.erasure.requested.v1')
  erase(requests: ErasureRequested[]): Promise<void> {
    return this.erasures.perform(requests, {
      family: (tx, contactId) => this.familyOf(tx, contactId),
      erase: (tx, contactIds, request) => this.eraseOne(tx, contactIds, request),
      part: (tx, contactIds) => this.follower.part(tx, contactIds),
    });
  }

  /** Adds those of whom it has rows: one of them may be erased already, and is known to be merged no more. */
  private async familyOf(tx: Transaction, contactId: string): Promise<string[]> {
    const family = await this.refs.withMerged(tx, contactId);
    const origins = [];
    for (const rows of this.rows.all()) origins.push(...(await rows.origins(tx, family)));
    return [...new Set([...family, ...origins])];
  }

  private async eraseOne(
    tx: Transaction,
    contactIds: readonly string[],
    request: ErasureRequested,
  ): Promise<ErasedCounts | undefined> {
    if (await isUnderWay(tx, request)) return undefined;
    const counts = await this.follower.erase(tx, contactIds);
    let isDone = true;
    for (const rows of this.rows.allSettled()) {
      const settled = await rows.settle(tx, contactIds);
      counts[rows.resource] = settled.removed;
      isDone &&= settled.isDone;
    }
    if (isDone) return counts;
    await beginErasure(tx, request, contactIds, counts);
    return undefined;
  }
}
