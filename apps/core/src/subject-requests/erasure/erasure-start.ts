import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { turns } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactLookup } from '../../people/contacts/contact-lookup.js';
import { ContactPair } from '../../people/merges/contact-pair.js';
import { RequestsEnd } from '../requests-end.js';
import { ErasedIdentifiers } from '../../blocklist/erased-identifiers.js';
import { forgetPerson, identifiersOf } from './person.js';
import { FIRST_STEP } from './steps.js';

const KEEP = `
  INSERT INTO contact_erasures (organization_id, subject_request_id, contact_id, correlation_id, step, contact_ids,
                                identifiers, counts, asked_at, moved_at, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $9)`;

/** Each is a merge or an undo that committed since the family was looked at. */
const FAMILY_TURNS = 10;

/** A request to erase whose person has proved who they are. */
interface VerifiedRequest {
  readonly id: string;
  readonly contactId: string;
  readonly correlationId: string;
}

/** Begins an erasure: what must be true of it at once is, and the rest is left to its steps and to the other modules. */
@Injectable()
export class ErasureStart {
  constructor(
    private readonly lookup: ContactLookup,
    private readonly pair: ContactPair,
    private readonly blocklist: ErasedIdentifiers,
    private readonly requests: RequestsEnd,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * In the transaction of the change that verifies the request: the person is found by nothing any more, their
   * identifiers create nothing, and every module is asked. Who was erased already is asked for again.
   * @throws Problem `dependency_unavailable` when events keep the contact for seconds, or merges keep coming for it
   */
  async begin(tx: Transaction, request: VerifiedRequest): Promise<void> {
    const { contactId, ids } = await this.lockFamily(tx, request.contactId);
    const now = this.clock.now();
    const identifiers = await identifiersOf(tx, ids);
    await this.blocklist.block(tx, request.id, identifiers);
    const counts = await forgetPerson(tx, ids, now);
    await this.requests.ofErased(tx, ids);
    await tx.query(KEEP, [
      tx.organizationId,
      request.id,
      contactId,
      request.correlationId,
      FIRST_STEP,
      ids,
      JSON.stringify(identifiers),
      JSON.stringify(counts),
      now,
    ]);
    await this.outbox.append(tx, {
      type: 'core.erasure.requested.v1',
      organizationId: tx.organizationId,
      key: contactId,
      subject: `contacts/${contactId}`,
      correlationId: request.correlationId,
      data: { subject_request_id: request.id, contact_id: contactId, contact_ids: ids },
    });
  }

  /** Whoever the id stands for, with all that were merged into them: locked against events, merges, undos and changes. */
  private async lockFamily(tx: Transaction, id: string): Promise<{ contactId: string; ids: string[] }> {
    for await (const _ of turns({ most: FAMILY_TURNS })) {
      const contactId = await this.lookup.survivorOf(tx, id);
      const ids = (await this.lookup.familyOf(tx, contactId)).sort();
      if (ids.length === 0) return { contactId, ids: [contactId] };
      await this.pair.lock(tx, ids);
      // A merge or an undo that committed before the lock has made the family another: then the others are locked too.
      const again = (await this.lookup.familyOf(tx, await this.lookup.survivorOf(tx, id))).sort();
      if (again.join() === ids.join()) return { contactId, ids };
    }
    const detail = 'The contact keeps being merged; try again shortly.';
    throw new Problem('dependency_unavailable', { detail });
  }
}
