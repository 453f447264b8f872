import { Injectable } from '@nestjs/common';
import { Database, versionTag, type Transaction } from '@customer-platform/database';
import { etagOf, requireMatch, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactLookup } from '../contacts/contact-lookup.js';
import type { Contact } from '../contacts/contact.entity.js';
import { toContactDto } from '../contacts/contact.dto.js';
import { ContactMerger, type MergePlan } from './contact-merger.js';
import { ContactPair, type LockedContacts } from './contact-pair.js';
import { ContactParter } from './contact-parter.js';
import type { MergeContactsDto, MergeDto } from './merge.dto.js';
import { contentAfter } from './merge-fields.js';
import { readMergeRequest, type MergeRequest, type UndoRequest } from './merge-request.js';
import { MergesRepository, type MergeRow } from './merges.repository.js';

/** What a call answers; the tag of a dry run guards the call that means it. */
interface MergeAnswer {
  readonly body: MergeDto;
  readonly etag?: string;
}

/** Merging contacts, and parting them again (core.md §4). */
@Injectable()
export class MergesService {
  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
    private readonly pair: ContactPair,
    private readonly merges: MergesRepository,
    private readonly merger: ContactMerger,
    private readonly parter: ContactParter,
  ) {}

  /**
   * Merges, undoes a merge, or shows what either would come to.
   * @throws Problem `validation_failed`, `reference_not_found`, `reference_deleted`, `already_merged`, `merge_blocked`,
   * `merge_not_undoable`, `restore_conflict`, `etag_mismatch`
   */
  run(context: RequestContext, body: MergeContactsDto): Promise<MergeAnswer> {
    const request = readMergeRequest(body);
    return this.database.inOrganization(context, (tx) =>
      'mergeId' in request ? this.undo(tx, context, request) : this.merge(tx, context, request),
    );
  }

  private async merge(tx: Transaction, context: RequestContext, request: MergeRequest): Promise<MergeAnswer> {
    const { survivorId, mergedId, keep, dryRun, reason } = request;
    const locked = await this.pair.lock(tx, [survivorId, mergedId]);
    const survivor = demandKnown(locked, survivorId, '/survivor_id');
    const merged = demandKnown(locked, mergedId, '/merged_id');
    if (merged.mergedInto === survivorId && !survivor.mergedInto) {
      return this.repeated(tx, locked, survivor, mergedId, dryRun);
    }
    for (const contact of [survivor, merged]) await this.refuseMerged(tx, contact);
    demandActive(survivor, '/survivor_id');
    demandActive(merged, '/merged_id');
    const plan = await this.merger.plan(tx, survivor, merged, keep);
    const etag = tagOf(plan, keep);
    const seen = { survivor: seenOf(locked, survivor), merged: seenOf(locked, merged) };
    if (dryRun) return { body: tried(plan, seen), etag };
    requireMatch(context.ifMatch, etag);
    const { blockers } = plan.outcome;
    if (blockers.length > 0) throw new Problem('merge_blocked', { members: { blockers } });
    const done = await this.merger.carryOut(tx, context, plan, seen, reason);
    const base = { merge_id: done.mergeId, dry_run: false, status: 'merged' as const };
    return { body: answer(base, survivorId, mergedId, done.survivor, done.seen, plan.outcome) };
  }

  private async undo(tx: Transaction, context: RequestContext, request: UndoRequest): Promise<MergeAnswer> {
    const { mergeId, dryRun, reason } = request;
    const known = await this.merges.byId(tx, mergeId);
    if (!known) throw refused('reference_not_found', '/undo_merge_id', 'There is no such merge.');
    const locked = await this.pair.lock(tx, [known.survivorId, known.mergedId]);
    const merge = (await this.merges.byId(tx, mergeId)) ?? known;
    const survivor = locked.contacts.get(merge.survivorId);
    const merged = locked.contacts.get(merge.mergedId);
    if (!survivor || !merged) throw new Problem('merge_not_undoable');
    const base = { merge_id: mergeId, dry_run: dryRun, status: 'undone' as const };
    const shown = (contact: Contact, seen: Date, outcome = merge.outcome): MergeDto =>
      answer(base, merge.survivorId, merge.mergedId, contact, seen, outcome);
    if (merge.status === 'undone') {
      const outcome = await this.merger.outcomeNow(tx, survivor, merged, merge.outcome);
      return { body: shown(survivor, seenOf(locked, survivor), outcome) };
    }
    await this.demandUndoable(tx, merge, survivor, merged);
    const etag = etagOf({ merge: mergeId, survivor: versionTag(survivor), merged: versionTag(merged) });
    if (dryRun) {
      const preview = await this.parter.preview(tx, survivor, merge);
      return { body: shown(preview, merge.seenBefore), etag };
    }
    requireMatch(context.ifMatch, etag);
    const parted = await this.parter.part(tx, context, merge, { survivor, merged }, reason);
    return { body: shown(parted.survivor, parted.seen) };
  }

  private async repeated(
    tx: Transaction,
    locked: LockedContacts,
    survivor: Contact,
    mergedId: string,
    dryRun: boolean,
  ): Promise<MergeAnswer> {
    const merge = await this.merges.standing(tx, mergedId);
    if (!merge) throw new Error('A contact is merged and its merge is not known');
    const base = { merge_id: merge.id, dry_run: dryRun, status: 'merged' as const };
    const seen = seenOf(locked, survivor);
    return { body: answer(base, survivor.id, mergedId, survivor, seen, merge.outcome) };
  }

  private async refuseMerged(tx: Transaction, { mergedInto }: Contact): Promise<void> {
    if (!mergedInto) return;
    const survivorId = await this.lookup.survivorOf(tx, mergedInto);
    throw new Problem('already_merged', { members: { survivor_id: survivorId } });
  }

  /** @throws Problem `merge_not_undoable` */
  private async demandUndoable(
    tx: Transaction,
    merge: MergeRow,
    survivor: Contact,
    merged: Contact,
  ): Promise<void> {
    const erased = survivor.erasedAt !== null || merged.erasedAt !== null;
    if (!erased && !survivor.mergedInto && !(await this.merges.hasLater(tx, merge))) return;
    throw new Problem('merge_not_undoable');
  }
}

function demandKnown({ contacts }: LockedContacts, id: string, pointer: string): Contact {
  const contact = contacts.get(id);
  if (contact && !contact.erasedAt) return contact;
  throw refused('reference_not_found', pointer, 'There is no such contact.');
}

function demandActive({ deletedAt }: Contact, pointer: string): void {
  if (deletedAt) throw refused('reference_deleted', pointer, 'This contact is soft-deleted.');
}

function refused(
  code: 'reference_not_found' | 'reference_deleted',
  pointer: string,
  detail: string,
): Problem {
  return new Problem(code, { detail, errors: [{ pointer, code, detail }] });
}

function seenOf({ seen }: LockedContacts, contact: Contact): Date {
  return seen.get(contact.id) ?? contact.createdAt;
}

/** Of everything that the answer shows but the events, which keep coming. */
function tagOf({ survivor, merged, outcome }: MergePlan, keep: MergeRequest['keep']): string {
  const { consents, blockers, moved } = outcome;
  return etagOf({
    contacts: [survivor, merged].map((contact) => [contact.id, versionTag(contact)]),
    identities: moved.identities,
    consents,
    blockers,
    keep,
  });
}

function tried(plan: MergePlan, seen: { survivor: Date; merged: Date }): MergeDto {
  const { survivor, merged, changes, outcome } = plan;
  const contact = { ...survivor, ...contentAfter(survivor, changes) };
  const latest = seen.survivor > seen.merged ? seen.survivor : seen.merged;
  const base = { merge_id: null, dry_run: true, status: 'merged' as const };
  return answer(base, survivor.id, merged.id, contact, latest, outcome);
}

function answer(
  base: Pick<MergeDto, 'merge_id' | 'dry_run' | 'status'>,
  survivorId: string,
  mergedId: string,
  contact: Contact,
  lastSeenAt: Date,
  outcome: MergePlan['outcome'],
): MergeDto {
  const { fields, consents, moved, blockers } = outcome;
  return {
    ...base,
    survivor_id: survivorId,
    merged_id: mergedId,
    contact: toContactDto({ ...contact, lastSeenAt }),
    fields,
    consents,
    moved,
    blockers,
  };
}
