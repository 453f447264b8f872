import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import {
  CONTACT_CHANGED,
  CONTACT_ENDED,
  CONTACTS_MERGED,
  eventsOf,
  refOfChange,
  refOfEnd,
  refsOfMerge,
  type ContactChanged,
  type ContactEnded,
  type ContactEvent,
  type ContactsMerged,
} from './contact-events.js';
import { ContactRefs } from './contact-refs.js';
import { ContactRowsRegistry } from './contact-rows.js';

/**
 * Keeps what is known of contacts in step with core's events, and the rows that belong to contacts with them, in one
 * transaction of each organization: whoever writes such a row keeps its contact active, so none slips past a merge or an end.
 */
@Injectable()
export class ContactFollower {
  constructor(
    private readonly database: Database,
    private readonly refs: ContactRefs,
    private readonly rows: ContactRowsRegistry,
  ) {}

  /** A run of one type, as a consumer is given it. */
  async follow(run: readonly DomainEvent<ContactEvent>[]): Promise<void> {
    const changed = eventsOf(CONTACT_CHANGED, run);
    if (changed.length > 0) await this.changed(changed);
    await this.ended(eventsOf(CONTACT_ENDED, run));
    await this.merged(eventsOf(CONTACTS_MERGED, run));
  }

  changed(events: readonly DomainEvent<ContactChanged>[]): Promise<void> {
    const refs = events.flatMap((event) => refOfChange(event) ?? []);
    return this.database.acrossOrganizations((tx) => this.refs.write(tx, refs));
  }

  /** Nothing of a contact that is gone stays, soft-deleted rows included. */
  ended(events: readonly DomainEvent<ContactEnded>[]): Promise<void> {
    return this.byOrganization(events, async (tx, own) => {
      await this.refs.end(tx, own.map(refOfEnd));
      const gone = own.map(({ data }) => data.contact_id);
      for (const rows of this.rows.all()) await rows.remove?.(tx, gone);
      for (const rows of this.rows.allSettled()) await rows.settle(tx, gone);
    });
  }

  merged(events: readonly DomainEvent<ContactsMerged>[]): Promise<void> {
    return this.byOrganization(events, async (tx, own) => {
      const refs = own.map(refsOfMerge).flatMap(({ survivor, merged }) => [survivor, merged]);
      await this.refs.write(tx, refs);
      const contactIds = [...new Set(refs.map(({ id }) => id))];
      await this.moveRows(tx, contactIds);
      for (const rows of this.rows.allSettled()) await rows.settle(tx, contactIds);
    });
  }

  /**
   * Every row goes to where the merges of the contact it was written on end now. So a merge moves it, an undo moves it
   * back, and a repeat or another order of the two changes nothing.
   */
  private async moveRows(tx: Transaction, contactIds: readonly string[]): Promise<void> {
    for (const rows of this.rows.all()) {
      const ends = await this.refs.ends(tx, await rows.origins(tx, contactIds));
      if (ends.size === 0) continue;
      const moves = [...ends].map(([origin, { id }]) => ({ origin, to: id }));
      await rows.move(tx, contactIds, moves);
    }
  }

  /**
   * Each in a transaction of its own: rows may have what is locked for them, and no organization waits for another's.
   * Where one fails, those before it are done; as all come again, that changes nothing of them.
   */
  private async byOrganization<E extends DomainEvent>(
    events: readonly E[],
    work: (tx: Transaction, own: E[]) => Promise<void>,
  ): Promise<void> {
    const groups = Map.groupBy(events, ({ organizationid }) => organizationid);
    for (const [organizationId, own] of groups)
      await this.database.inOrganization({ organizationId }, (tx) => work(tx, own));
  }
}
