import { isTransient, postgresFailure } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';

/** Kafka did not acknowledge in time. 503 with `Retry-After`; what was sent may or may not have been written. */
export class QueueUnavailable extends Problem {
  constructor(cause?: unknown) {
    super('queue_unavailable', {
      detail: 'The queue did not acknowledge; nothing is promised about this request. Send it again shortly.',
      headers: { 'Retry-After': '1' },
      cause,
    });
  }
}

/** A record is larger than the broker takes: it was not written and never will be. */
export class RecordTooLarge extends RangeError {
  constructor(cause?: unknown) {
    super('The record is larger than the broker takes', { cause });
    this.name = 'RecordTooLarge';
  }
}

/** Topics are not there yet that other modules make, or an operator. Whoever needs them waits. */
export class TopicsMissing extends Error {
  constructor(readonly topics: readonly string[]) {
    super(`${topics.join(', ')}: not there yet, or not to be seen; whose they are makes them`);
    this.name = 'TopicsMissing';
  }
}

/** The consumer is being stopped or has lost its partition: what is left is delivered again, to whoever has it then. */
export class ConsumptionEnded extends Error {
  constructor() {
    super('The consumption of this partition ended');
    this.name = 'ConsumptionEnded';
  }
}

/** Records of a partition are left, because one of them stalls: they are read again, with what has come by then. */
export class LeftForLater extends ConsumptionEnded {
  constructor(cause?: unknown) {
    super();
    this.cause = cause;
    this.message = 'A record stalls, and is tried again later';
    this.name = 'LeftForLater';
  }
}

const AWAY_CODES = new Set([
  'dependency_unavailable',
  'authorization_unavailable',
  'queue_unavailable',
  'upstream_timeout',
  'overloaded',
  'shutting_down',
]);

/** TypeORM's word for a connection that broke between two statements of a transaction. */
const BROKEN = new Set(['QueryRunnerAlreadyReleasedError']);

/**
 * Whether the failure lies in what the handler stands on (Postgres, Kafka, another module) and not in the event:
 * such a delivery is tried again for as long as it lasts, for no event is at fault.
 */
export function isInfrastructureError(error: unknown): boolean {
  if (error instanceof Problem) return AWAY_CODES.has(error.code);
  if (error instanceof Error && (error.name.startsWith('KafkaJS') || BROKEN.has(error.name))) return true;
  return isTransient(error);
}

/** Time limits, memory, and locks that others hold: what one event's statement meets while others do not. */
const OF_ONE = /^(57014|53200|55P03|40001|40P01)$/;
/** Of these, what the values of the event alone may cause. */
const OF_VALUES = /^(57014|53200)$/;
/** pg's word for a statement that did not answer within its own limit. */
const READ_TIMEOUT = 'Query read timeout';

/** Whether an infrastructure error may as well be one event's: then others of its run may come through without it. */
export function mayBeOfOneEvent(error: unknown): boolean {
  return OF_ONE.test(postgresFailure(error)?.code ?? '') || isReadTimeout(error);
}

/** Whether it may be for the values of an event, and not only for what others do at the same time. */
export function mayBeOfItsValues(error: unknown): boolean {
  return OF_VALUES.test(postgresFailure(error)?.code ?? '') || isReadTimeout(error);
}

function isReadTimeout(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    if (at.message.startsWith(READ_TIMEOUT)) return true;
  return false;
}
