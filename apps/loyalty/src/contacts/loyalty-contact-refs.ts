import { Inject, Injectable } from '@nestjs/common';
import { ContactRefs, type ChainEnd } from '@customer-platform/contact-refs';
import { WriteConflict, type Transaction } from '@customer-platform/database';
import { contactHash } from './contact-hash.js';
import { LEDGER_KEY } from '../ledger-key.js';

/** What loyalty knows of contacts. Of those that are erased not even their ids stay, but keyed hashes. */
@Injectable()
export class LoyaltyContactRefs extends ContactRefs {
  constructor(@Inject(LEDGER_KEY) key: string) {
    super({ hashOf: ({ organizationId, id }) => contactHash(key, organizationId, id) });
  }

  /**
   * Asked by whoever writes points, once it holds the subjects' locks: an erasure takes the same locks, so that it is
   * either seen here or sees what is written.
   * @throws WriteConflict
   */
  async demandNotErased(tx: Transaction, contactIds: readonly string[]): Promise<void> {
    const { organizationId } = tx;
    const contacts = [...new Set(contactIds)].map((id) => ({ organizationId, id }));
    if ((await this.erased(tx, contacts)).size > 0)
      throw new WriteConflict('A contact was erased while points of it were being written');
  }

  /**
   * Who earns for a contact: itself, or its survivor; nobody for one that is soft-deleted, purged or erased. One that
   * is not known yet earns: core tells of a contact before it tells of its events. Whoever earns stays active and
   * unmerged until the transaction ends, so that no merge passes what is posted.
   */
  async keepEarners(tx: Transaction, contactIds: readonly string[]): Promise<Map<string, string>> {
    const earners = new Map<string, string>();
    for (let open = [...new Set(contactIds)]; open.length > 0;) {
      const ends = await this.ends(tx, open);
      await this.introduce(tx, [...ends.values()]);
      const candidates = [...ends].filter(([, { state }]) => state === undefined || state === 'active');
      const kept = await this.keepActive(
        tx,
        candidates.map(([, { id }]) => id),
      );
      for (const [asked, { id }] of candidates) if (kept.has(id)) earners.set(asked, id);
      // Changed since it was looked at: what it stands for now decides. Every turn is a change that committed.
      open = candidates.flatMap(([asked, { id }]) => (kept.has(id) ? [] : [asked]));
    }
    return earners;
  }

  /** Notes contacts that nothing is known of, below every version of core's, so that there is a row to lock. */
  private async introduce(tx: Transaction, ends: readonly ChainEnd[]): Promise<void> {
    const { organizationId } = tx;
    const unknown = ends.filter(({ state }) => state === undefined);
    await this.write(
      tx,
      unknown.map(({ id }) => ({ organizationId, id, state: 'active', mergedInto: null, version: 0 })),
    );
  }
}
