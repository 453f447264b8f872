import { isTransient } from '@customer-platform/database';
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

/** The consumer is being stopped or has lost its partition: what is left is delivered again, to whoever has it then. */
export class ConsumptionEnded extends Error {
  constructor() {
    super('The consumption of this partition ended');
    this.name = 'ConsumptionEnded';
  }
}

const AWAY_CODES = new Set([
  'dependency_unavailable',
  'authorization_unavailable',
  'queue_unavailable',
  'upstream_timeout',
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
