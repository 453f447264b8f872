import { isUtf8 } from 'node:buffer';
import { Injectable } from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import type { AuthenticatedCaller } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Enforcements } from '../taxonomies/enforcing/enforcements.js';
import { eventIdOf } from '../vocabulary/events/event-id.js';
import type { EventKind, IdentifyBody, TrackBody } from '../vocabulary/events/event-schemas.js';
import { judgeEvent } from '../vocabulary/events/event-validation.js';
import { schemaErrors } from './broken-schemas.js';
import { IngestionQueue, type EventToQueue } from './ingestion-queue.js';
import { limitHeader, limitsOf, policyHeader, RateLimiter, type Grant } from './rate-limits/rate-limiter.js';

/** A caller whose key's hash is known, so that an event accepted unconfirmed can be confirmed later. */
export type IngestionCaller = AuthenticatedCaller & { readonly keyHash?: string };

/** The answer to one accepted event. */
interface Accepted {
  readonly eventId: string;
  readonly headers: Record<string, string>;
}

/** Takes single events: judge → hold against schemas → limit → enqueue → accept. Who calls, and whether they may, is already known. */
@Injectable()
export class IngestionService {
  constructor(
    private readonly queue: IngestionQueue,
    private readonly limiter: RateLimiter,
    private readonly enforcements: Enforcements,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves when the event is durable (contract.md §6).
   * @throws Problem `malformed_json`, `validation_failed` or the published code of what is wrong, `schema_violation`,
   *   `rate_limited`, `queue_unavailable`
   */
  async accept(kind: EventKind, caller: IngestionCaller, bytes: Buffer): Promise<Accepted> {
    const now = this.clock.now().getTime();
    const { text, value } = readJson(bytes);
    const judged = judgeEvent(kind, value, text, now);
    if (judged.errors) throw Problem.validation(judged.errors);
    const { organizationId } = caller;
    const enforcement =
      this.enforcements.peek(organizationId) ?? (await this.enforcements.of(organizationId));
    const broken = schemaErrors(enforcement, judged);
    if (broken) throw Problem.validation(broken);
    const grant = this.limiter.take(caller.principal.id, caller.organizationId, 1, limitsOf(caller));
    if (grant.granted === 0) throw rateLimited(grant);
    const event = toQueue(caller, judged.kind, judged.body, bytes, now);
    await this.queue.add([event]);
    return { eventId: event.eventId, headers: limitHeaders(grant) };
  }
}

/**
 * The JSON of a request.
 * @throws Problem `malformed_json`; its text never quotes the body
 */
export function readJson(bytes: Buffer): { text: string; value: unknown } {
  if (!isUtf8(bytes)) throw new Problem('malformed_json', { detail: 'The body is not UTF-8.' });
  const text = bytes.toString('utf8');
  try {
    return { text, value: JSON.parse(text) };
  } catch (error) {
    throw new Problem('malformed_json', { detail: 'The body is not JSON.', cause: error });
  }
}

/** An accepted event, ready to be queued. */
export function toQueue(
  caller: IngestionCaller,
  kind: EventKind,
  body: TrackBody | IdentifyBody,
  bytes: Buffer,
  now: number,
): EventToQueue {
  return {
    organizationId: caller.organizationId,
    eventId: eventIdOf(caller.organizationId, body.idempotency_key),
    externalId: body.external_id,
    kind,
    receivedAt: now,
    unconfirmedKey: caller.unconfirmed ? caller.keyHash : undefined,
    body: bytes,
  };
}

/** What every answer says of the limits. */
export function limitHeaders(grant: Grant): Record<string, string> {
  return { RateLimit: limitHeader(grant), 'RateLimit-Policy': policyHeader(grant.limits) };
}

/** The 429 of a request of which nothing passed. */
export function rateLimited(grant: Grant, members: Record<string, unknown> = {}): Problem {
  const scope = grant.scope ?? 'key';
  return new Problem('rate_limited', {
    detail: `The limit of the ${scope} is used up; try again in ${grant.retryAfter} s.`,
    headers: { ...limitHeaders(grant), 'Retry-After': String(grant.retryAfter) },
    members: { scope, ...members },
  });
}
