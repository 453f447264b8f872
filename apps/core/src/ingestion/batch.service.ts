import { Injectable } from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import { yieldLoop } from '@customer-platform/http';
import { FieldErrors, isProblemCode, Problem, PROBLEMS } from '@customer-platform/problem-json';
import { Enforcements } from '../taxonomies/enforcing/enforcements.js';
import { schemaErrors } from './broken-schemas.js';
import { addSchemaErrors } from '../vocabulary/events/schema-errors.js';
import { SHAPES } from '../vocabulary/events/event-schemas.js';
import { judgeItem, kindOf } from '../vocabulary/events/event-validation.js';
import { IngestionQueue, type EventToQueue } from './ingestion-queue.js';
import { limitHeaders, rateLimited, readJson, toQueue, type IngestionCaller } from './ingestion.service.js';
import { sliceArrayItems } from './json-slices.js';
import { limitsOf, RateLimiter, type Grant } from './rate-limits/rate-limiter.js';

/** One event, alone or in a batch, may be this large. */
export const EVENT_BYTES = 32 * 1024;

/** So much of a batch is judged at a time, between which other requests run. */
const STEPS_FROM_BYTES = 16 * 1024;

/** An item that was refused; `pointer` is relative to the item. */
interface Refusal {
  index: number;
  code: string;
  pointer: string;
  detail: string;
  retryable: boolean;
}

/** The verdict on one item of a batch. */
type Verdict = { index: number; event_id: string } | Refusal;

/** The answer to a batch of which at least one item was taken. */
interface BatchAccepted {
  readonly body: { accepted: number; rejected: number; results: Verdict[] };
  readonly headers: Record<string, string>;
}

/** A batch that was refused as a whole; `events` of it count as refused. */
export class BatchRefused extends Error {
  constructor(
    readonly problem: Problem,
    readonly events: number,
  ) {
    super(problem.message, { cause: problem });
  }
}

interface Candidate {
  index: number;
  event: EventToQueue;
}

/** Takes several events at once: judge each, by the schemas of the organization too → limit → enqueue → a verdict on each. */
@Injectable()
export class BatchService {
  constructor(
    private readonly queue: IngestionQueue,
    private readonly limiter: RateLimiter,
    private readonly enforcements: Enforcements,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves when all items that were found good and fit the limits are durable (contract.md §6).
   * @throws BatchRefused when none was
   * @throws Problem `malformed_json`, `queue_unavailable`
   */
  async accept(caller: IngestionCaller, bytes: Buffer): Promise<BatchAccepted> {
    const items = readItems(bytes);
    const refusals: Refusal[] = [];
    if (bytes.length > STEPS_FROM_BYTES) await yieldLoop();
    const good = await this.judge(caller, items, sliceArrayItems(bytes, 'events'), refusals);
    const grant = this.limiter.take(
      caller.principal.id,
      caller.organizationId,
      good.length,
      limitsOf(caller),
    );
    const taken = good.slice(0, grant.granted);
    refusals.push(...good.slice(grant.granted).map((candidate) => limited(candidate, grant)));
    refusals.sort((one, other) => one.index - other.index);
    if (taken.length === 0) throw new BatchRefused(refusalOf(refusals, grant, good.length > 0), items.length);
    await this.queue.add(taken.map(({ event }) => event));
    return answer(taken, refusals, grant);
  }

  private async judge(
    caller: IngestionCaller,
    items: readonly unknown[],
    slices: readonly Buffer[],
    refusals: Refusal[],
  ): Promise<Candidate[]> {
    const now = this.clock.now().getTime();
    const { organizationId } = caller;
    const enforcement =
      this.enforcements.peek(organizationId) ?? (await this.enforcements.of(organizationId));
    const mayIdentify = caller.permissions.has('core.contacts.write');
    const good: Candidate[] = [];
    let judgedBytes = 0;
    for (const [index, item] of items.entries()) {
      const bytes = slices[index] ?? Buffer.alloc(0);
      const refusal = bytes.length > EVENT_BYTES ? tooLarge(index) : undefined;
      if (refusal) {
        refusals.push(refusal);
        continue;
      }
      if (!mayIdentify && kindOf(item) === 'identify') {
        refusals.push(notPermitted(index));
        continue;
      }
      judgedBytes += bytes.length;
      if (judgedBytes > STEPS_FROM_BYTES) {
        judgedBytes = 0;
        await yieldLoop();
      }
      const judged = judgeItem(item, bytes.toString('utf8'), now);
      const errors = judged.errors ?? schemaErrors(enforcement, judged);
      if (errors) refusals.push(invalid(index, errors));
      else if (!judged.errors)
        good.push({ index, event: toQueue(caller, judged.kind, judged.body, bytes, now) });
    }
    return good;
  }
}

function readItems(bytes: Buffer): unknown[] {
  const { value } = readJson(bytes);
  if (SHAPES.batch(value)) return value.events;
  const errors = new FieldErrors();
  addSchemaErrors(SHAPES.batch.errors, errors);
  const { events } = (typeof value === 'object' && value !== null ? value : {}) as { events?: unknown };
  throw new BatchRefused(Problem.validation(errors), Array.isArray(events) ? Math.max(1, events.length) : 1);
}

function answer(taken: readonly Candidate[], refusals: readonly Refusal[], grant: Grant): BatchAccepted {
  const accepted = taken.map(({ index, event }) => ({ index, event_id: event.eventId }));
  const results: Verdict[] = [...accepted, ...refusals].sort((one, other) => one.index - other.index);
  const headers = limitHeaders(grant);
  if (grant.scope) headers['Retry-After'] = String(grant.retryAfter);
  return { body: { accepted: taken.length, rejected: refusals.length, results }, headers };
}

/** The problem of a batch of which nothing was taken: 429 if a good item did not fit, else 400 with the verdicts. */
function refusalOf(refusals: Refusal[], grant: Grant, anyGood: boolean): Problem {
  if (anyGood) return rateLimited(grant, { errors: refusals });
  const [first] = refusals;
  const shared = first && refusals.every(({ code }) => code === first.code) ? first.code : undefined;
  // A code keeps its status everywhere: 413 or 403 of the items is no 400 of the whole.
  const isShared = shared !== undefined && isProblemCode(shared) && PROBLEMS[shared].status === 400;
  return new Problem(isShared ? shared : 'validation_failed', {
    detail: 'Every item of the batch was refused; see `errors`.',
    members: { errors: refusals },
  });
}

function invalid(index: number, errors: FieldErrors): Refusal {
  const problem = Problem.validation(errors);
  const [first] = errors.named;
  const more = errors.total > 1 ? ` (and ${errors.total - 1} more)` : '';
  return {
    index,
    code: problem.code,
    pointer: first?.pointer ?? '',
    detail: `${first?.detail ?? problem.message}${more}`,
    retryable: false,
  };
}

function tooLarge(index: number): Refusal {
  const detail = `The item is larger than ${EVENT_BYTES} bytes.`;
  return { index, code: 'body_too_large', pointer: '', detail, retryable: false };
}

function notPermitted(index: number): Refusal {
  const detail = 'An identify needs the permission core.contacts.write.';
  return { index, code: 'permission_denied', pointer: '/type', detail, retryable: false };
}

function limited({ index }: Candidate, grant: Grant): Refusal {
  const detail = `The limit of the ${grant.scope ?? 'key'} is used up; try again in ${grant.retryAfter} s.`;
  return { index, code: 'rate_limited', pointer: '', detail, retryable: true };
}
