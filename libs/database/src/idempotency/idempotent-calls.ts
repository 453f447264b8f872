import { createHmac } from 'node:crypto';
import { canonicalJson, type StoredAnswer, turns } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import type { Transaction } from '../transaction.js';
import { BatchedCalls, type PerformAll } from './batched-calls.js';
import { inProgress, lockOf, PATIENCE_MS, POLL_MS, type IdempotentAnswer } from './idempotent-call.js';
import { AnswerTable, type CallDigests, type IdempotentCall, type KeptAnswers } from './kept-answers.js';

type Perform = (tx: Transaction, digests: CallDigests) => Promise<StoredAnswer>;

/**
 * Calls whose key counts for ever, or whose effect must not happen twice even if the process dies between effect
 * and answer: both commit in one transaction, so a crash leaves both or neither.
 */
export class IdempotentCalls {
  /**
   * @param secret keys the digests under which keys and bodies are kept, for both may name a person or an invoice;
   * it must never change while answers are kept for ever
   * @param answers where they are kept
   */
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly secret: string,
    private readonly answers: KeptAnswers = new AnswerTable(clock),
  ) {}

  /**
   * Performs the call once. `perform` is given the transaction that commits with the answer, and its own
   * `inOrganization` calls join it; if it throws, nothing is kept. `remember` says what of the answer is kept (secrets
   * shown once are left out).
   * @throws Problem `idempotency_key_reused` (422), `idempotency_in_progress` (409), or what `perform` threw
   */
  async run(
    call: IdempotentCall,
    perform: Perform,
    remember: (answer: StoredAnswer) => StoredAnswer = (answer) => answer,
  ): Promise<IdempotentAnswer> {
    for await (const _ of turns({ forMs: PATIENCE_MS, pauseMs: POLL_MS })) {
      const answer = await this.attempt(call, perform, remember);
      if (answer) return answer;
    }
    throw inProgress();
  }

  /** The same for a route under load, whose calls are performed in groups; their answers are kept in the table of keys. */
  batched<Item>(perform: PerformAll<Item>): BatchedCalls<Item> {
    const answers = new AnswerTable(this.clock);
    return new BatchedCalls(this.database, answers, (call) => this.digestsOf(call), perform);
  }

  private attempt(
    call: IdempotentCall,
    perform: Perform,
    remember: (answer: StoredAnswer) => StoredAnswer,
  ): Promise<IdempotentAnswer | undefined> {
    const digests = this.digestsOf(call);
    return this.database.joinedIfFree(call, lockOf(call), async (tx) => {
      const known = await this.answers.find(tx, call, digests);
      if (known) {
        if (!known.body.equals(digests.body)) throw new Problem('idempotency_key_reused');
        return { ...known.answer, replayed: true };
      }
      const answer = await perform(tx, digests);
      await this.answers.keep(tx, call, digests, remember(answer));
      return { ...answer, replayed: false };
    });
  }

  private digestsOf({ key, body }: IdempotentCall): CallDigests {
    const digest = (text: string): Buffer => createHmac('sha256', this.secret).update(text).digest();
    return { key: digest(`key ${key}`), body: digest(`body ${canonicalJson(body ?? null)}`) };
  }
}
