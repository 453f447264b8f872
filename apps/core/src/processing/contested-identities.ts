import { Injectable } from '@nestjs/common';
import { systemActor } from '@customer-platform/audit';
import { Clock, WriteConflict, type Transaction, type WorkerTransaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { ContactMerger } from '../people/merges/contact-merger.js';
import { ContactPair } from '../people/merges/contact-pair.js';
import { SuggestionsRepository } from '../people/suggestions/suggestions.repository.js';
import type { ClaimOutcome } from './identity-claims.js';

const ANONYMOUS = `
  SELECT contact.id
    FROM unnest($1::uuid[], $2::uuid[]) AS owner (organization_id, id)
    JOIN contacts AS contact ON contact.organization_id = owner.organization_id AND contact.id = owner.id
   WHERE external_id IS NULL AND email IS NULL AND phone IS NULL
     AND deleted_at IS NULL AND merged_into IS NULL AND erased_at IS NULL
     AND NOT EXISTS (SELECT FROM identities AS identity
                      WHERE identity.organization_id = contact.organization_id AND identity.contact_id = contact.id
                        AND type NOT IN ('anonymous_id', 'device_id', 'custom.push_token'))`;

/** A claim of an identity that another contact has. */
type ContestedClaim = Extract<ClaimOutcome, { refused: 'identity_taken' }>;

/** Claims of identities that others have, by what is to become of them. */
export interface Contests {
  /** The owner is known by nothing but its devices: it goes up in the claimant. */
  readonly folds: readonly ContestedClaim[];
  /** Both are identified: the value stays where it is, and the pair is suggested. */
  readonly suggestions: readonly ContestedClaim[];
}

/**
 * What follows where an event claims an identity of another contact (core.md §3): an anonymous contact folds into the
 * identified one, two identified ones never merge by themselves.
 */
@Injectable()
export class ContestedIdentities {
  constructor(
    private readonly pair: ContactPair,
    private readonly merger: ContactMerger,
    private readonly suggestions: SuggestionsRepository,
    private readonly clock: Clock,
  ) {}

  /** Tells the contests among the outcomes apart. */
  async judge(tx: Transaction, outcomes: readonly ClaimOutcome[]): Promise<Contests> {
    const contested = outcomes.filter((outcome): outcome is ContestedClaim => 'owner' in outcome);
    if (contested.length === 0) return { folds: [], suggestions: [] };
    const rows = await tx.query<{ id: string }>(ANONYMOUS, [
      contested.map(({ owner }) => owner.organizationId),
      contested.map(({ owner }) => owner.contactId),
    ]);
    const anonymous = new Set(rows.map(({ id }) => id));
    const { true: folds = [], false: suggestions = [] } = Object.groupBy(contested, ({ owner }) =>
      anonymous.has(owner.contactId) ? 'true' : 'false',
    );
    return { folds, suggestions };
  }

  /**
   * Carries out what was judged, once the events are stored and told of.
   * @throws WriteConflict when a contact cannot be had
   */
  async settle(tx: WorkerTransaction, { folds, suggestions }: Contests): Promise<void> {
    // In one order for all, as whatever several transactions lock.
    for (const claim of inOrder(folds)) {
      await tx.useOrganization(claim.owner.organizationId);
      if (!(await this.fold(tx, claim))) await this.suggest(tx, claim);
    }
    for (const claim of inOrder(suggestions)) {
      await tx.useOrganization(claim.owner.organizationId);
      await this.suggest(tx, claim);
    }
  }

  /** False where it cannot be: another has taken the owner up meanwhile, or something stands in the way. */
  private async fold(tx: Transaction, { claim, owner }: ContestedClaim): Promise<boolean> {
    const survivorId = claim.contact.id;
    const { contacts, seen } = await this.lock(tx, [survivorId, owner.contactId]);
    const [survivor, merged] = [contacts.get(survivorId), contacts.get(owner.contactId)];
    if (merged?.mergedInto === survivorId) return true;
    if (!survivor || !merged || merged.mergedInto || merged.deletedAt) return false;
    const plan = await this.merger.plan(tx, survivor, merged, {});
    if (plan.outcome.blockers.length > 0) return false;
    const context = systemActor(tx.organizationId, claim.item.eventId, 'ingestion');
    const lastSeen = {
      survivor: seen.get(survivorId) ?? survivor.createdAt,
      merged: seen.get(merged.id) ?? merged.createdAt,
    };
    await this.merger.carryOut(tx, context, plan, lastSeen, null);
    return true;
  }

  private async lock(tx: Transaction, ids: readonly [string, string]) {
    try {
      return await this.pair.lock(tx, ids);
    } catch (error) {
      if (error instanceof Problem) throw new WriteConflict('An anonymous contact is busy', { cause: error });
      throw error;
    }
  }

  private async suggest(tx: Transaction, { claim, owner }: ContestedClaim): Promise<void> {
    const { type, normal, contact } = claim;
    const contested = { ownerId: owner.contactId, claimantId: contact.id, type, normal };
    await this.suggestions.raise(tx, contested, this.clock.now());
  }
}

function inOrder(claims: readonly ContestedClaim[]): ContestedClaim[] {
  const pair = ({ claim, owner }: ContestedClaim) =>
    [owner.organizationId, ...[owner.contactId, claim.contact.id].sort()].join();
  return [...claims].sort((one, other) => (pair(one) < pair(other) ? -1 : 1));
}
