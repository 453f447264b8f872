import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { RequestContext } from '@customer-platform/http';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { ConsentRecorder } from '../people/consents/consent-recorder.js';
import { ContactLookup } from '../people/contacts/contact-lookup.js';
import type { CreateSubjectRequestDto } from './subject-request.dto.js';
import { BY_HAND, REQUEST_COLUMNS, requestEvent, type SubjectRequestRow } from './subject-request.row.js';

/** What the person wanted is done, and is needed no more. */
const COMPLETE = `
  UPDATE subject_requests
     SET state = 'completed', outcome = $4, corrections = NULL, completed_at = $3,
         updated_at = greatest($3, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND id = $2 RETURNING ${REQUEST_COLUMNS}`;

/** How consents tell by what they were withdrawn. */
const METHOD = 'opposition';

/** The requests that staff carries out and then completes: rectification, opposition and blocking. */
@Injectable()
export class ManualCompletion {
  constructor(
    private readonly lookup: ContactLookup,
    private readonly consents: ConsentRecorder,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Locks whoever the request is about. Before its row: an erasure locks the contacts first.
   * @throws Problem `invalid_state` when they were erased
   */
  async lockSubject(tx: Transaction, request: SubjectRequestRow): Promise<void> {
    await this.holderOf(tx, request);
  }

  /**
   * Of an opposition the consents to its purposes are withdrawn in the same transaction; the subject is locked.
   * @throws Problem `invalid_state` when it is carried out by the platform, or is not in progress
   */
  async complete(
    tx: Transaction,
    context: RequestContext,
    request: SubjectRequestRow,
    outcome: string,
  ): Promise<SubjectRequestRow> {
    if (!BY_HAND.includes(request.type))
      throw new Problem('invalid_state', { detail: 'The platform completes a request of this type itself.' });
    if (request.state !== 'in_progress')
      throw new Problem('invalid_state', { detail: `The request is ${request.state}.` });
    const subject = await this.holderOf(tx, request);
    for (const purpose of request.purposes ?? []) {
      const prepared = this.consents.prepare(context, {
        purpose,
        status: 'withdrawn',
        method: METHOD,
        jurisdiction: request.jurisdiction,
      });
      await this.consents.record(tx, context, subject, prepared);
    }
    const values = [tx.organizationId, request.id, this.clock.now(), outcome];
    const [completed] = await tx.query<SubjectRequestRow>(COMPLETE, values);
    if (!completed) throw new TypeError('A request that is locked is gone');
    await this.outbox.append(tx, requestEvent(tx.organizationId, completed, 'completed'));
    return completed;
  }

  private async holderOf(tx: Transaction, request: SubjectRequestRow) {
    const subject = await this.lookup.lockHolder(tx, request.contact_id);
    if (!subject) throw new Problem('invalid_state', { detail: 'The person was erased.' });
    return subject;
  }
}

/** A rectification says what to correct, an opposition what it objects to, and no other. @throws Problem */
export function demandContent({ type, corrections, purposes }: CreateSubjectRequestDto): void {
  const errors: FieldError[] = [];
  const demand = (field: string, isNeeded: boolean, isGiven: boolean): void => {
    if (isNeeded === isGiven) return;
    const detail = `${field} is ${isNeeded ? 'required for' : 'no part of'} this type.`;
    errors.push({ pointer: `/${field}`, code: isNeeded ? 'required' : 'not_allowed', detail });
  };
  demand('corrections', type === 'rectification', corrections !== undefined);
  demand('purposes', type === 'opposition', purposes !== undefined);
  for (const [at, { field, value }] of (corrections ?? []).entries()) {
    if (field !== 'national_id' || value === null) continue;
    const detail = 'A national id is written on the contact alone.';
    errors.push({ pointer: `/corrections/${String(at)}/value`, code: 'not_allowed', detail });
  }
  if (errors.length > 0) throw Problem.validation(errors);
}
