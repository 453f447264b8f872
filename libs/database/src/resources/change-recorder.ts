import type { RequestContext } from '@customer-platform/http';
import type { Transaction } from '../transaction.js';

/** What happened to a resource; the verb of its event and the end of its audit action. */
export type ChangeVerb = 'created' | 'updated' | 'deleted' | 'restored' | 'purged';

/** One change of one resource, as audit and event tell it. */
export interface RecordedChange {
  verb: ChangeVerb;
  /** `<module>.<resource>` as in the permission: `loyalty.rules`. */
  resource: string;
  id: string;
  /** Names of the fields that changed, as the API writes them; never values. */
  changedFields: string[];
  /** Why, where the caller said so. */
  reason?: string;
  /** The domain event to publish; none when absent. */
  event?: ChangeEvent;
}

/** The event of a change, in the words of libs/events. */
export interface ChangeEvent {
  type: string;
  key: string;
  subject: string;
  data: Record<string, unknown>;
  /** When it happened; of two changes of one row always the later time is the later change's. Default now. */
  time?: string;
  /** Whose event it is where that is not the caller's organization; needs a worker's transaction. */
  organizationId?: string;
}

/**
 * Writes audit row and outbox event of a change in the transaction of the change. An abstract class, so that it is
 * its own injection token; libs/audit provides it.
 */
export abstract class ChangeRecorder {
  abstract record(tx: Transaction, context: RequestContext, change: RecordedChange): Promise<void>;
}
