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
import type { ContactState } from './contact-ref.js';
import { ContactRefs } from './contact-refs.js';
import { ContactRowsRegistry, type ContactRows } from './contact-rows.js';

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

  /**
   * Nothing of a contact that is gone stays, soft-deleted rows included. Those of an erased one that was merged, as far as
   * is known, are left to its survivor's erasure, which counts them, unless that was heard of first.
   */
  ended(events: readonly DomainEvent<ContactEnded>[]): Promise<void> {
    return this.byOrganization(events, async (tx, own) => {
      const refs = own.map(refOfEnd);
      const purged = refs.filter(({ state }) => state === 'purged').map(({ id }) => id);
      const ends = await this.refs.ends(
        tx,
        refs.flatMap(({ id, state }) => (state === 'erased' ? id : [])),
      );
      const erased = [...ends].flatMap(([id, end]) => (end.id === id || end.state === 'erased' ? id : []));
      await this.refs.end(tx, refs);
      for (const rows of this.rows.all()) {
        if (purged.length > 0) await rows.remove?.(tx, purged);
        if (erased.length > 0) await rows.erase(tx, erased);
      }
      for (const rows of this.rows.allSettled()) await rows.settle(tx, [...purged, ...erased]);
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
   * Erases contacts as core asks for it, with the rows that were written on them. They are marked first: whoever still
   * writes for one is waited for, whoever comes later is refused.
   * @returns how many rows went, by their resource; of those that are settled in pieces nothing
   */
  async erase(tx: Transaction, contactIds: readonly string[]): Promise<Record<string, number>> {
    const known = await this.refs.withMerged(tx, ...contactIds);
    // In one order for all, with those who are parted afterwards.
    await this.refs.keep(tx, known);
    await this.refs.erase(tx, contactIds);
    const counts: Record<string, number> = {};
    for (const rows of this.rows.all()) {
      await rows.origins(tx, known);
      counts[rows.resource] = await rows.erase(tx, contactIds);
    }
    return counts;
  }

  /** Gives back to others what stands under these contacts, who are erased: they have parted, or never belonged together. */
  async part(tx: Transaction, erased: readonly string[]): Promise<void> {
    const parted = (await this.refs.part(tx, erased)).map(({ id }) => id);
    const origins: string[] = [];
    for (const rows of this.rows.all()) origins.push(...(await rows.origins(tx, erased)));
    const others = [...new Set([...parted, ...origins])].filter((id) => !erased.includes(id));
    if (others.length === 0) return;
    // Whoever merges or erases one of them just now is waited for: where their rows belong is known then.
    const heirs = [...(await this.refs.ends(tx, others)).values()].map(({ id }) => id);
    await this.refs.keep(tx, [...(await this.refs.withMerged(tx, ...others)), ...heirs]);
    await this.moveRows(tx, others);
    for (const rows of this.rows.allSettled()) await rows.settle(tx, others);
  }

  /**
   * Every row goes to where the merges of the contact it was written on end now. So a merge moves it, an undo moves it
   * back, and a repeat or another order of the two changes nothing. What was written on somebody who is gone goes, too: the
   * erasure was heard of first.
   */
  private async moveRows(tx: Transaction, between: readonly string[]): Promise<void> {
    const contactIds = await this.refs.withMerged(tx, ...between);
    for (const rows of this.rows.all()) {
      const ends = [...(await this.refs.ends(tx, await rows.origins(tx, contactIds)))];
      const gone = ends.filter(([origin, { id, state }]) => id === origin && isGone(state, rows));
      if (gone.length > 0)
        await rows.erase(
          tx,
          gone.map(([origin]) => origin),
        );
      // Into an erased one nobody is merged any more: either the undo is yet to be heard of, or the erasure of this one, too.
      const moves = ends
        .filter(([, { state }]) => !isGone(state, rows))
        .map(([origin, { id }]) => ({ origin, to: id }));
      if (moves.length > 0) await rows.move(tx, contactIds, moves);
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

/** What stays until it is erased stays under a contact that is purged. */
function isGone(state: ContactState | undefined, rows: ContactRows): boolean {
  return state === 'erased' || (state === 'purged' && rows.remove !== undefined);
}
