import { Injectable } from '@nestjs/common';
import { Clock, Database, type Transaction } from '@customer-platform/database';
import { mapPage, type ListQuery, type Page, type RequestContext } from '@customer-platform/http';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import {
  ConsentRecorder,
  type ConsentSubject,
  type PreparedConsent,
} from '../people/consents/consent-recorder.js';
import { toConsentStateDto, type ConsentStateDto } from '../people/consents/consent.dto.js';
import { ConsentsRepository } from '../people/consents/consents.repository.js';
import { ContactLookup } from '../people/contacts/contact-lookup.js';
import type { MemberConsentDto } from './member.dto.js';

const AT = '/consents';
const METHOD = 'member';
/** How a contact can be gone. */
const GONE: readonly string[] = ['not_found', 'resource_deleted'];

/** What a member has agreed to, and says now. */
@Injectable()
export class MemberConsentsService {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactLookup,
    private readonly consents: ConsentsRepository,
    private readonly recorder: ConsentRecorder,
    private readonly clock: Clock,
  ) {}

  /** What holds now. */
  list(context: RequestContext, query: ListQuery): Promise<Page<ConsentStateDto>> {
    return this.database.inOrganization(context, async (tx) => {
      const contact = await this.contacts.read(tx, await this.contacts.survivorOf(tx, context.principal.id));
      return 'ids' in contact ? this.states(tx, contact.ids, query) : refuseGone();
    });
  }

  /**
   * Records all that is said, or nothing; a grant that holds already is not said again. A refusal is: it is later than
   * whatever is granted late with an earlier date, and said since a merge, which gives it to both when it is undone.
   * Later items of the list count more than earlier ones, as "nothing at all, but mail" is meant. Answers what holds then.
   * @throws Problem `validation_failed`, `invalid_token`
   */
  async update(
    context: RequestContext,
    given: readonly MemberConsentDto[],
    query: ListQuery,
  ): Promise<Page<ConsentStateDto>> {
    refuseRepeats(given);
    const said = given.map((one) => ({ ...one, method: METHOD }));
    const prepared = this.recorder.prepareAll(context, said, AT);
    return this.database.inOrganization(context, async (tx) => {
      const subject = await this.subject(tx, context);
      const present = await this.recorder.presentOf(tx, subject.ids, prepared.length);
      for (const [place, one] of prepared.entries()) {
        const at = new Date(present.getTime() - (prepared.length - 1 - place));
        if (await this.changes(tx, subject, one, at))
          await this.recorder.record(tx, context, subject, { ...one, occurred_at: at });
      }
      return this.states(tx, subject.ids, query, present);
    });
  }

  private async states(tx: Transaction, ids: readonly string[], query: ListQuery, at = this.clock.now()) {
    return mapPage(await this.consents.states(tx, ids, query, at), toConsentStateDto);
  }

  /** The contact of the token, locked so that what held before is what held before. */
  private async subject(tx: Transaction, { principal }: RequestContext): Promise<ConsentSubject> {
    try {
      // Since the token was looked at they may be merged, or have parted: for others nobody speaks.
      const holder = await this.contacts.lockHolder(tx, principal.issuedTo ?? principal.id);
      if (!holder) return refuseGone();
      const { contactId } = holder;
      return { contactId, ids: await this.contacts.lockForWrite(tx, contactId) };
    } catch (error) {
      if (error instanceof Problem && GONE.includes(error.code)) refuseGone();
      throw error;
    }
  }

  private async changes(
    tx: Transaction,
    { ids }: ConsentSubject,
    one: PreparedConsent,
    at: Date,
  ): Promise<boolean> {
    if (one.status !== 'granted') return true;
    const state = await this.consents.stateOf(tx, ids, one, at);
    // Agreed again, to another notice: that is news.
    return state?.status !== one.status || state.notice_version !== one.notice_version || state.divided;
  }
}

/** What happened to the contact in the moment since its token was looked at ends the token. */
function refuseGone(): never {
  throw new Problem('invalid_token');
}

function refuseRepeats(given: readonly MemberConsentDto[]): void {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [at, { purpose, channel }] of given.entries()) {
    const pair = `${purpose} ${channel ?? ''}`;
    const detail = 'A purpose and channel stand in the list once.';
    if (seen.has(pair)) errors.push({ pointer: `${AT}/${String(at)}`, code: 'duplicate_item', detail });
    seen.add(pair);
  }
  if (errors.length > 0) throw Problem.validation(errors);
}
