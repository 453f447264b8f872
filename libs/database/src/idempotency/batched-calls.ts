import { Batcher, type StoredAnswer, turns } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { Database } from '../database.js';
import { isAway, isTransient } from '../errors.js';
import type { Transaction } from '../transaction.js';
import {
  inProgress,
  lockOf,
  PATIENCE_MS,
  POLL_MS,
  type CallDigester,
  type IdempotentAnswer,
} from './idempotent-call.js';
import type { AnswerTable, CallDigests, IdempotentCall } from './kept-answers.js';

/**
 * What performs several calls in one transaction: for each, in their order, its answer or why it is refused. It must
 * have written nothing of what it refuses.
 */
export type PerformAll<Item> = (
  tx: Transaction,
  items: readonly Item[],
) => Promise<readonly (StoredAnswer | Error)[]>;

interface Asked<Item> {
  readonly call: IdempotentCall;
  readonly digests: CallDigests;
  readonly item: Item;
}

/** Undefined: another performs the call at this moment. */
type Outcome = IdempotentAnswer | Error | undefined;

/** While one waits for its commit another is read about. */
const GROUPS_AT_ONCE = 2;

const LOCKS = `
  SELECT pg_try_advisory_xact_lock(hashtextextended(name, 0)) AS mine
    FROM unnest($1::text[]) WITH ORDINALITY AS lock (name, place) ORDER BY place`;

/**
 * `IdempotentCalls` for a route under load: calls of one organization that come in at the same time are performed,
 * and their answers kept, in one transaction. Each still counts once, and a refusal of one touches no other.
 */
export class BatchedCalls<Item> {
  private readonly groups: Batcher<Asked<Item>, Outcome>;

  constructor(
    private readonly database: Database,
    private readonly answers: AnswerTable,
    private readonly digestsOf: CallDigester,
    private readonly perform: PerformAll<Item>,
  ) {
    this.groups = new Batcher({
      run: (group) => this.performGroup(group),
      parallel: GROUPS_AT_ONCE,
      // One that runs into a time limit holds up no other; its own caller asks again.
      singlyAfter: (error) => !isAway(error),
      isSlow: isTransient,
    });
  }

  /**
   * Performs the call once; nothing is kept if it is refused.
   * @throws Problem `idempotency_key_reused` (422), `idempotency_in_progress` (409), or the refusal
   */
  async run(call: IdempotentCall, item: Item): Promise<IdempotentAnswer> {
    const asked = { call, digests: this.digestsOf(call), item };
    for await (const _ of turns({ forMs: PATIENCE_MS, pauseMs: POLL_MS })) {
      const outcome = await this.groups.add(asked, 1, `${call.organizationId} ${call.route}`);
      if (outcome instanceof Error) throw outcome;
      if (outcome) return outcome;
    }
    throw inProgress();
  }

  /** Calls of one organization and one route. */
  private async performGroup(group: readonly Asked<Item>[]): Promise<Outcome[]> {
    const [first] = group;
    if (!first) return [];
    return this.database.inOrganization(
      first.call,
      async (tx) => {
        const outcomes = new Map<Asked<Item>, Outcome>();
        const mine = await this.locked(tx, group);
        const known = await this.answers.findAll(tx, first.call, mine);
        for (const asked of mine) {
          const kept = known.get(asked.digests.key.toString('hex'));
          if (!kept) continue;
          const same = kept.body.equals(asked.digests.body);
          outcomes.set(
            asked,
            same ? { ...kept.answer, replayed: true } : new Problem('idempotency_key_reused'),
          );
        }
        const fresh = mine.filter((asked) => !outcomes.has(asked));
        for (const [asked, outcome] of await this.performFresh(tx, fresh)) outcomes.set(asked, outcome);
        return group.map((asked) => outcomes.get(asked));
      },
      { onePlan: true },
    );
  }

  private async performFresh(
    tx: Transaction,
    fresh: readonly Asked<Item>[],
  ): Promise<[Asked<Item>, Outcome][]> {
    if (fresh.length === 0) return [];
    const results = await this.perform(
      tx,
      fresh.map(({ item }) => item),
    );
    const answered = fresh.flatMap((asked, at) => {
      const answer = results[at];
      return answer && !(answer instanceof Error) ? [{ ...asked, answer }] : [];
    });
    const [first] = fresh;
    if (first) await this.answers.keepAll(tx, first.call, answered);
    return fresh.map((asked, at) => {
      const result = results[at];
      if (!result) throw new Error('A call was neither answered nor refused');
      return [asked, result instanceof Error ? result : { ...result, replayed: false }];
    });
  }

  /** Those whose key nobody else holds; of two with one key the first. */
  private async locked(tx: Transaction, group: readonly Asked<Item>[]): Promise<Asked<Item>[]> {
    const byLock = new Map<string, Asked<Item>>();
    for (const asked of group) {
      const lock = lockOf(asked.call);
      if (!byLock.has(lock)) byLock.set(lock, asked);
    }
    const rows = await tx.prepared<{ mine: boolean }>(LOCKS, [[...byLock.keys()]]);
    return [...byLock.values()].filter((_, at) => rows[at]?.mine === true);
  }
}
