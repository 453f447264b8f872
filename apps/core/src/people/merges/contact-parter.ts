import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import { Clock, postgresFailure, type Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import type { DeclaredAttributes } from '../../vocabulary/attributes/declared-attributes.js';
import { DeclaredAttributesReader } from '../../following/declared-attributes.reader.js';
import { ContactHooks } from '../contacts/contact-hooks.js';
import { ContactIdentities } from '../contacts/contact-identities.js';
import { ContactLookup } from '../contacts/contact-lookup.js';
import { Contact } from '../contacts/contact.entity.js';
import { SuggestionsRepository } from '../suggestions/suggestions.repository.js';
import { MergeAnnouncements } from './merge-announcements.js';
import { MergeConsents } from './merge-consents.js';
import { changedNames, conformed, contentBefore } from './merge-fields.js';
import { MergesRepository, type MergeRow } from './merges.repository.js';
import { writeContact } from './write-contact.js';

const NATIONAL_ID_OWNER = `
  SELECT id FROM contacts
   WHERE organization_id = $1 AND national_id_type = $2 AND national_id_index = $3 AND deleted_at IS NULL
     AND merged_into IS NULL`;

/** Makes two contacts of one again: what nobody has written since is as it was (core.md §4). */
@Injectable()
export class ContactParter {
  constructor(
    private readonly lookup: ContactLookup,
    private readonly identities: ContactIdentities,
    private readonly merges: MergesRepository,
    private readonly consents: MergeConsents,
    private readonly suggestions: SuggestionsRepository,
    private readonly announcements: MergeAnnouncements,
    private readonly hooks: ContactHooks,
    private readonly clock: Clock,
    private readonly declared: DeclaredAttributesReader,
  ) {}

  /** The survivor as it would be; writes nothing. */
  async preview(tx: Transaction, survivor: Contact, merge: MergeRow): Promise<Contact> {
    const declared = await this.declared.now(tx);
    return Object.assign(new Contact(), survivor, contentOf(declared, survivor, merge));
  }

  /**
   * Undoes a merge that nothing stands in the way of; both contacts are locked.
   * @returns the survivor, and when it was last seen
   * @throws Problem `restore_conflict` when another contact has the national id of the one that comes back
   */
  part(
    tx: Transaction,
    context: AuditContext,
    merge: MergeRow,
    contacts: { readonly survivor: Contact; readonly merged: Contact },
    reason: string | null,
  ): Promise<{ survivor: Contact; seen: Date }> {
    return this.declared.within(tx, (declared) =>
      this.partBy(declared, tx, context, merge, { ...contacts, reason }),
    );
  }

  private async partBy(
    declared: DeclaredAttributes,
    tx: Transaction,
    context: AuditContext,
    merge: MergeRow,
    contacts: { readonly survivor: Contact; readonly merged: Contact; readonly reason: string | null },
  ): Promise<{ survivor: Contact; seen: Date }> {
    const { reason } = contacts;
    const now = this.clock.now();
    const { survivor: before } = contacts;
    const family = await this.lookup.familyOf(tx, contacts.merged.id);
    const content = contentOf(declared, before, merge);
    // The survivor first: it gives free what was unique to the other.
    const survivor = await writeContact(tx, before, { ...content, version: before.version + 1 }, now);
    // Two versions: one by which the undo is told, one for the profile that comes after it.
    const mergedVersion = contacts.merged.version + 1;
    const merged = await this.comeBack(tx, contacts.merged, mergedVersion + 1, now);
    await this.merges.moveBack(tx, survivor.id, merged.id, family);
    await this.identities.takeBackFree(tx, merged.id);
    await this.identities.claimFree(tx, context, merged, now);
    const seen = await this.seeAgain(tx, survivor.id, merged.id, merge.seenBefore);
    await this.merges.undone(tx, merge.id, now);
    const families = {
      survivor: await this.lookup.familyOf(tx, survivor.id),
      merged: family,
      survivorId: survivor.id,
      mergedId: merged.id,
    };
    await this.hooks.ofParted(tx, families, merge.mergedAt);
    const said = { at: merge.mergedAt, repeatedAt: await this.merges.repeatedAt(tx, families.survivor) };
    await this.consents.part(tx, context, families, said, now);
    await this.suggestions.settle(tx, [survivor.id, merged.id], 'dismissed', now);
    await this.announcements.tell(tx, context, {
      mergeId: merge.id,
      together: false,
      survivor,
      merged,
      mergedVersion,
      changedFields: changedNames(before, content),
      reason,
    });
    await this.merges.count(tx, -1, now);
    return { survivor, seen };
  }

  private async comeBack(tx: Transaction, before: Contact, version: number, now: Date): Promise<Contact> {
    try {
      return await tx.savepoint(() => writeContact(tx, before, { mergedInto: null, version }, now));
    } catch (error) {
      if (postgresFailure(error)?.constraint !== 'contacts_national_id') throw error;
      const { nationalIdType, nationalIdIndex } = before;
      const [owner] = await tx.query<{ id: string }>(NATIONAL_ID_OWNER, [
        tx.organizationId,
        nationalIdType,
        nationalIdIndex,
      ]);
      throw new Problem('restore_conflict', {
        detail: 'Another contact has the national id of the one that would come back.',
        members: owner ? { conflicting_id: owner.id } : {},
      });
    }
  }

  /** Each was last seen when it was before the merge, or by its latest event since. */
  private async seeAgain(
    tx: Transaction,
    survivorId: string,
    mergedId: string,
    seenBefore: Date,
  ): Promise<Date> {
    const latest = await this.merges.latestEvent(tx, survivorId);
    const seen = latest && latest > seenBefore ? latest : seenBefore;
    await this.merges.see(tx, survivorId, seen);
    await this.merges.seeLatest(tx, mergedId, await this.merges.latestEvent(tx, mergedId));
    return seen;
  }
}

/** What a definition has come to refuse since then does not come back. */
function contentOf(declared: DeclaredAttributes, survivor: Contact, { changes }: MergeRow): Partial<Contact> {
  return conformed(declared, contentBefore(declared, survivor, changes));
}
