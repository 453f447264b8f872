import { createHash, createHmac } from 'node:crypto';
import type { Request, Response } from 'express';
import { Problem } from '@customer-platform/problem-json';
import { pathOf, stateOf } from '../context/request-state.js';
import { Answer } from '../endpoints/answer.js';
import type { RouteDeclaration } from '../endpoints/route-declaration.js';
import { canonicalJson } from '../json/canonical-json.js';
import { turns } from '../jobs/turns.js';
import { log } from '../observe/log.js';
import { readIdempotencyKey } from './idempotency-key.js';
import type { IdempotencyScope, IdempotencyStore, StoredAnswer } from './idempotency-store.js';

/** How long answers are kept, claims last and a concurrent caller waits (the public contract: 24 h, 5 s). */
const KEEP_MS = 24 * 60 * 60 * 1000;
const LEASE_MS = 60_000;
const WAIT_MS = 5_000;
/** Every path of the API whose ids are ids is shorter. */
const LONGEST_PATH = 500;
const POLL_MS = [20, 40, 80, 160, 250];

/** Gives a repeated management POST its first answer instead of a second effect. */
export class IdempotentOperations {
  constructor(
    private readonly store: IdempotencyStore | undefined,
    /** Keys the digests of bodies: a body may hold a national id, which a plain digest would give away. */
    private readonly secret: string,
    private readonly now: () => number = Date.now,
  ) {}

  /** Runs the operation, or replays its answer with `Idempotent-Replay: true`. A refused operation stores nothing. */
  async once(
    request: Request,
    response: Response,
    route: RouteDeclaration,
    run: () => Promise<unknown>,
  ): Promise<unknown> {
    const key = readIdempotencyKey(request.headers['idempotency-key']);
    const { context, body } = stateOf(request);
    if (key === undefined || !this.store || !context) return run();
    const scope = {
      organizationId: context.organizationId,
      route: routeOf(route.method, pathOf(request)),
      key,
    };
    const fingerprint = createHmac('sha256', this.secret).update(canonicalJson(body)).digest('base64url');
    const claim = await this.claim(this.store, scope, fingerprint);
    if ('answer' in claim) {
      response.setHeader('Idempotent-Replay', 'true');
      return new Answer(claim.answer.body, claim.answer.headers, claim.answer.status);
    }
    return this.perform(this.store, scope, claim.claimId, route, run);
  }

  private async perform(
    store: IdempotencyStore,
    scope: IdempotencyScope,
    claimId: string,
    route: RouteDeclaration,
    run: () => Promise<unknown>,
  ): Promise<unknown> {
    const kept = { of: (result: unknown) => storedAnswer(result, route), keepMs: KEEP_MS };
    try {
      return await store.perform(scope, claimId, run, kept);
    } catch (error) {
      await store.release(scope, claimId).catch((cause: unknown) => {
        log.warn({ err: cause, route: scope.route }, 'an idempotency key stays claimed until its lease ends');
      });
      throw error;
    }
  }

  private async claim(
    store: IdempotencyStore,
    scope: IdempotencyScope,
    fingerprint: string,
  ): Promise<{ claimId: string } | { answer: StoredAnswer }> {
    const pauseMs = (made: number): number => POLL_MS[Math.min(made, POLL_MS.length) - 1] ?? 0;
    for await (const _ of turns({ forMs: WAIT_MS, pauseMs, now: this.now })) {
      const claim = await store.claim(scope, fingerprint, LEASE_MS);
      if (claim.state === 'claimed') return claim;
      if (claim.fingerprint !== fingerprint) throw new Problem('idempotency_key_reused');
      if (claim.state === 'answered') return claim;
    }
    throw new Problem('idempotency_in_progress', { headers: { 'Retry-After': '1' } });
  }
}

/** The route as it is kept: the path itself, but its digest where it is too long for the index that it stands in. */
function routeOf(method: string, path: string): string {
  const kept = path.length <= LONGEST_PATH ? path : createHash('sha256').update(path).digest('base64url');
  return `${method} ${kept}`;
}

/** The answer as it is kept: as JSON, without the members that are shown once. */
function storedAnswer(result: unknown, route: RouteDeclaration): StoredAnswer {
  const answer = result instanceof Answer ? result : new Answer(result);
  const text = JSON.stringify(answer.body) as string | undefined;
  const body: unknown = text === undefined ? undefined : JSON.parse(text);
  if (typeof body === 'object' && body !== null) {
    for (const field of route.secretFields) Reflect.deleteProperty(body, field);
  }
  return { status: answer.status ?? route.success, headers: answer.headers, body };
}
