import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import { Clock, newId, type Transaction } from '@customer-platform/database';
import type { DeclaredAttributes } from '../../vocabulary/attributes/declared-attributes.js';
import { DeclaredAttributesReader } from '../../following/declared-attributes.reader.js';
import { IDENTITIES_OF_CONTACT, mergedIdentityLimit } from '../../vocabulary/identities/identity-value.js';
import { ContactLookup } from '../contacts/contact-lookup.js';
import type { Contact } from '../contacts/contact.entity.js';
import { SuggestionsRepository } from '../suggestions/suggestions.repository.js';
import { MergeAnnouncements } from './merge-announcements.js';
import { MergeConsents, type Families } from './merge-consents.js';
import {
  changedNames,
  conformed,
  contentAfter,
  fieldsNow,
  planFields,
  type FieldPlan,
  type Side,
} from './merge-fields.js';
import type { MergeBlocker, MergeOutcome } from './merge-outcome.js';
import { MergesRepository } from './merges.repository.js';
import { writeContact } from './write-contact.js';

/** How many contacts may have gone up in one, one into another. */
const MERGES_LIMIT = 100;

/** What is to become of two contacts, both locked. */
export interface MergePlan {
  readonly survivor: Contact;
  readonly merged: Contact;
  readonly families: Families;
  readonly changes: FieldPlan['changes'];
  readonly outcome: MergeOutcome;
  readonly now: Date;
}

/** A merge that was carried out. */
interface CarriedOut {
  readonly mergeId: string;
  readonly survivor: Contact;
  readonly seen: Date;
}

/** Makes one contact of two (core.md §4): plan, look for what stands in the way, carry out. */
@Injectable()
export class ContactMerger {
  constructor(
    private readonly lookup: ContactLookup,
    private readonly merges: MergesRepository,
    private readonly consents: MergeConsents,
    private readonly suggestions: SuggestionsRepository,
    private readonly announcements: MergeAnnouncements,
    private readonly clock: Clock,
    private readonly declared: DeclaredAttributesReader,
  ) {}

  /** What a merge would come to; writes nothing. Both contacts are active and locked. */
  async plan(
    tx: Transaction,
    survivor: Contact,
    merged: Contact,
    keep: Readonly<Record<string, Side>>,
  ): Promise<MergePlan> {
    const now = this.clock.now();
    const families = {
      survivor: await this.lookup.familyOf(tx, survivor.id),
      merged: await this.lookup.familyOf(tx, merged.id),
    };
    const { fields, changes, blockers } = planFields(survivor, merged, keep);
    const outcome = {
      fields,
      consents: await this.consents.compare(tx, families),
      moved: await this.merges.counts(tx, merged.id, families.merged),
      blockers: [...blockers, ...(await this.limits(tx, survivor.id, merged.id, families))],
    };
    return { survivor, merged, families, changes, outcome, now };
  }

  /** What an undone merge came to, in what the two have now; of who is erased since nothing is shown. */
  async outcomeNow(
    tx: Transaction,
    survivor: Contact,
    merged: Contact,
    outcome: MergeOutcome,
  ): Promise<MergeOutcome> {
    if (survivor.erasedAt !== null || merged.erasedAt !== null)
      return { ...outcome, fields: [], consents: [] };
    const families = {
      survivor: await this.lookup.familyOf(tx, survivor.id),
      merged: await this.lookup.familyOf(tx, merged.id),
    };
    const fields = fieldsNow(survivor, merged, outcome.fields);
    return { ...outcome, fields, consents: await this.consents.compare(tx, families) };
  }

  /** Carries out a plan without blockers, in the transaction that holds the locks. */
  carryOut(
    tx: Transaction,
    context: AuditContext,
    plan: MergePlan,
    seen: { readonly survivor: Date; readonly merged: Date },
    reason: string | null,
  ): Promise<CarriedOut> {
    return this.declared.within(tx, (declared) =>
      this.carryOutBy(declared, tx, context, plan, { ...seen, reason }),
    );
  }

  private async carryOutBy(
    declared: DeclaredAttributes,
    tx: Transaction,
    context: AuditContext,
    plan: MergePlan,
    seen: { readonly survivor: Date; readonly merged: Date; readonly reason: string | null },
  ): Promise<CarriedOut> {
    const { reason } = seen;
    const { survivor: before, changes, outcome, now } = plan;
    const mergeId = newId();
    // The merged contact first: what is unique among those that stand is free for the survivor then.
    const merged = await writeContact(
      tx,
      plan.merged,
      { mergedInto: before.id, version: plan.merged.version + 1 },
      now,
    );
    // While values are being converted, one of the two may be and the other not.
    const content = conformed(declared, contentAfter(before, changes));
    const survivor = await writeContact(tx, before, { ...content, version: before.version + 1 }, now);
    await this.merges.move(tx, survivor.id, merged.id);
    const latest = seen.survivor > seen.merged ? seen.survivor : seen.merged;
    await this.merges.see(tx, survivor.id, latest);
    await this.merges.add(tx, {
      id: mergeId,
      survivorId: survivor.id,
      mergedId: merged.id,
      reason,
      changes,
      outcome,
      seenBefore: seen.survivor,
      mergedAt: now,
    });
    const consents = { ...plan.families, survivorId: survivor.id, mergedId: merged.id };
    await this.consents.merge(tx, context, consents, outcome.consents, now);
    await this.suggestions.settle(tx, [survivor.id, merged.id], 'merged', now);
    await this.announcements.tell(tx, context, {
      mergeId,
      together: true,
      survivor,
      merged,
      mergedVersion: merged.version,
      changedFields: changedNames(before, content),
      reason,
    });
    await this.merges.count(tx, 1, now);
    return { mergeId, survivor, seen: latest };
  }

  private async limits(
    tx: Transaction,
    survivorId: string,
    mergedId: string,
    families: Families,
  ): Promise<MergeBlocker[]> {
    const counts = await this.merges.identitiesByType(tx, [survivorId, mergedId]);
    const over = [...counts].filter(([type, count]) => count > mergedIdentityLimit(type));
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const erasure = await this.merges.isErasureOpen(tx, [...families.survivor, ...families.merged]);
    const merges = families.survivor.length - 1 + families.merged.length;
    return [
      ...over.map(([type]) => ({ code: 'limit_reached', field: `identities.${type}` })),
      ...(total > IDENTITIES_OF_CONTACT ? [{ code: 'limit_reached', field: 'identities' }] : []),
      ...(erasure ? [{ code: 'erasure_open', field: null }] : []),
      ...(merges > MERGES_LIMIT ? [{ code: 'merge_limit_reached', field: null }] : []),
    ];
  }
}
