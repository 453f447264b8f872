/** What a key stands for: one operation of one organization on one route. */
export interface IdempotencyScope {
  readonly organizationId: string;
  /** Method and pattern, e.g. `POST /v1/crm/notes`; with ids where the path has some. */
  readonly route: string;
  readonly key: string;
}

/** An answer as it is replayed. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: no body. */
  readonly body: unknown;
}

/** What is kept of the result of an operation, and for how long. */
export interface AnswerToKeep<T> {
  readonly of: (result: T) => StoredAnswer;
  readonly keepMs: number;
}

/** What the store knows of a key: new and now claimed, still running elsewhere, or answered. */
export type IdempotencyClaim =
  | { readonly state: 'claimed'; readonly claimId: string }
  | { readonly state: 'in_progress'; readonly fingerprint: string }
  | { readonly state: 'answered'; readonly fingerprint: string; readonly answer: StoredAnswer };

/**
 * Remembers the answers of management POSTs for 24 h (the public contract, "Requests and answers"). Bound to
 * {@link IDEMPOTENCY_STORE} by `libs/database`; without a binding the header is read, checked and has no effect.
 */
export interface IdempotencyStore {
  /**
   * Claims a key, atomically: of several at once exactly one is told `claimed`. A claim neither answered nor released
   * lasts `leaseMs`, so that a killed process does not block its key.
   */
  claim(scope: IdempotencyScope, fingerprint: string, leaseMs: number): Promise<IdempotencyClaim>;
  /**
   * Runs a claimed operation and keeps its answer in the transaction that its effect commits in: a process that dies, or
   * a commit whose outcome nobody learns, leaves both or neither.
   * @throws Problem `idempotency_in_progress` where the claim has been lost to another; what `run` threw
   */
  perform<T>(
    scope: IdempotencyScope,
    claimId: string,
    run: () => Promise<T>,
    answer: AnswerToKeep<T>,
  ): Promise<T>;
  /** Gives a claim up: the operation was refused and did nothing. One that is answered stays. */
  release(scope: IdempotencyScope, claimId: string): Promise<void>;
}

/** Injection token of the {@link IdempotencyStore}. */
export const IDEMPOTENCY_STORE = Symbol('IdempotencyStore');
