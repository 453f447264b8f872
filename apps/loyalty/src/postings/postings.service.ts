import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { type AskedContacts, ContactReferences } from '@customer-platform/contact-refs';
import {
  type CallDigests,
  Clock,
  IdempotentCalls,
  newId,
  postgresFailure,
  type Transaction,
} from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { Answer, type RequestContext, type StoredAnswer } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { postEntries } from '../ledger/entries.js';
import { LedgerService } from '../ledger/ledger.service.js';
import { type MovedPoints, pointsEvents } from '../ledger/points-events.js';
import { contactsOf } from '../ledger/subjects.js';
import type { TransactionDto } from '../ledger/transaction.dto.js';
import { type Effect, moveEffect } from './posting-effect.js';
import { createdAnswer } from './posted-answers.js';
import type { CreateTransactionDto } from './posting.dto.js';
import { type Posting, readPosting } from './read-posting.js';
import { Reversals } from './reversal.js';

interface Written {
  posting: Posting;
  effect: Effect;
  id: string;
  call: CallDigests;
}

const ROUTE = 'POST /v1/loyalty/transactions';

/** Posts adjustments, spends and reversals (loyalty.md §3): read → once per key → whose → lock → post → tell. */
@Injectable()
export class PostingsService {
  constructor(
    private readonly calls: IdempotentCalls,
    private readonly contacts: ContactReferences,
    private readonly reversals: Reversals,
    private readonly ledger: LedgerService,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws Problem `validation_failed`, `idempotency_key_reused`, `idempotency_in_progress`, `insufficient_points`,
   * `already_reversed`, `not_reversible`, `reference_not_found`, `reference_deleted`, `dependency_unavailable`; nothing
   * is written then, and the key stays free
   */
  async post(context: RequestContext, dto: CreateTransactionDto, key: string): Promise<Answer> {
    const posting = readPosting(dto);
    const { organizationId } = context;
    const call = { organizationId, route: ROUTE, key, body: dto, keep: 'forever' as const };
    const { status, headers, body, replayed } = await this.contacts.whileLearning(organizationId, (asked) =>
      this.calls.run(call, (tx, digests) => this.perform(tx, context, { posting, call: digests, asked })),
    );
    return new Answer(
      body as TransactionDto,
      { ...headers, ...(replayed ? { 'Idempotent-Replay': 'true' } : {}) },
      status,
    );
  }

  private async perform(
    tx: Transaction,
    context: RequestContext,
    { posting, call, asked }: Pick<Written, 'posting' | 'call'> & { asked: AskedContacts },
  ): Promise<StoredAnswer> {
    const id = newId();
    const effect = await this.effectOf(tx, { ...posting, id }, asked);
    await this.write(tx, context, { posting, effect, id, call });
    return createdAnswer(await this.ledger.read(tx, id));
  }

  private async effectOf(
    tx: Transaction,
    posting: Posting & { id: string },
    asked: AskedContacts,
  ): Promise<Effect> {
    if (posting.kind === 'reverse') return this.reversals.effect(tx, posting);
    const contact = { id: posting.contactId, pointer: '/contact_id' };
    return moveEffect(tx, posting, await this.contacts.activeIn(tx, contact, asked), this.clock);
  }

  private async write(
    tx: Transaction,
    context: RequestContext,
    { posting, effect, id, call }: Written,
  ): Promise<void> {
    const { kind, reference, reason } = posting;
    const { contactId, at: now, ...columns } = effect;
    const { correlationId } = context;
    const link = { eventId: null, correlationId, occurredAt: now, reference, reason };
    const actor = { type: context.actor.type, id: context.actor.id };
    await postEntries(tx, [{ ...columns, id, kind, actor, call, link }], now).catch(refuseInexact);
    // Without its reason: an erasure takes that from the ledger, and could not take it from the audit log.
    await this.audit.record(tx, context, {
      action: 'loyalty.transactions.create',
      resource: { type: 'transactions', id },
    });
    const moved = (await sharesOf(tx, effect)).map(([whose, points]): MovedPoints => {
      const said = { kind, transactionId: id, contactId: whose, points, correlationId };
      return { ...said, ruleId: null, eventId: null };
    });
    await this.outbox.append(tx, await pointsEvents(tx, moved, now));
  }
}

/**
 * By how much the balance of each contact moves, the posting's own first. A reversal may give points back to lots of a
 * contact that an undone merge has parted from it since.
 */
async function sharesOf(tx: Transaction, { contactId, points, reversesId, lines }: Effect) {
  if (reversesId === undefined) return [[contactId, points]] as const;
  const owners = await contactsOf(
    tx,
    lines.map(({ subjectRef }) => subjectRef),
  );
  const shares = new Map([[contactId, 0]]);
  for (const line of lines) {
    const owner = owners.get(line.subjectRef);
    if (owner !== undefined) shares.set(owner, (shares.get(owner) ?? 0) + line.points);
  }
  return [...shares];
}

/** The database refuses a balance that JSON could not tell exactly. */
function refuseInexact(error: unknown): never {
  if (postgresFailure(error)?.constraint !== 'balances_points_exact') throw error;
  const detail = 'With these points the balance could no longer be told exactly.';
  throw Problem.validation([{ pointer: '/points', code: 'out_of_range', detail }]);
}
