import { log } from '@customer-platform/http';
import type { EachBatchPayload } from 'kafkajs';
import { within } from '../within.js';

/** How far Kafka's offsets may lie behind positions that the database keeps. */
const COMMIT_EVERY_MS = 1_000;
/** A process that stops waits no longer for a coordinator that does not answer. */
const COMMIT_WITHIN_MS = 1_000;

/**
 * Tells Kafka how far a consumer has come whose positions its database keeps: once a second for all of its partitions,
 * not after each batch of each. Nobody begins there who has a position; it is what tools that look at the group see,
 * and where a release begins that knows no positions.
 */
export class OffsetCommits {
  private latest: EachBatchPayload | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly group: string) {}

  /** A chunk had its effect and is resolved. */
  resolved(payload: EachBatchPayload): void {
    this.latest = payload;
    this.timer ??= setTimeout(() => void this.commit(), COMMIT_EVERY_MS).unref();
  }

  /** Commits what is resolved by now. Never throws: what fails is committed with what comes next, or never. */
  async commit(): Promise<void> {
    const { latest } = this;
    this.left();
    if (!latest) return;
    try {
      await within(COMMIT_WITHIN_MS, latest.commitOffsetsIfNecessary(latest.uncommittedOffsets()));
    } catch (error) {
      log.debug({ err: error, group: this.group }, 'Offsets that nobody begins at were not committed');
    }
  }

  /** The member is no more: what it has resolved is told of by whoever comes next. */
  left(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.latest = undefined;
  }
}
