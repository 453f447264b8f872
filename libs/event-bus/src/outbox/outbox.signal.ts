import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { log } from '@customer-platform/http';

/** The Postgres channel on which a process without a relay tells the others that rows wait. */
export const OUTBOX_CHANNEL = 'outbox_appended';

/** How long notifications are batched: one statement tells of all appends within it. */
const LINGER_MS = 5;
/** Between two notifications; a relay that has been told looks until nothing waits, so it hears of few in a row late. */
const APART_MS = 50;

/** A shutdown has 10 s in all. */
const STOP_MS = 1_000;

/** One statement. Nothing is lost that a crash of the server could lose: nobody need wait for its disk. */
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, '')`;

/**
 * Wakes the relay after a commit. The relay of this process is called directly. Without one, a notification is sent
 * by a transaction of its own, at most twenty a second: inside the business transaction NOTIFY would take a lock that
 * the whole server has once, hold it for the length of the commit, and make all commits wait for each other. A lost
 * notification costs at most the relay's own look every two seconds.
 */
@Injectable()
export class OutboxSignal implements BeforeApplicationShutdown {
  private listener: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private notifiedAt = 0;

  constructor(private readonly database: Database) {}

  /** The relay of this process asks to be called. */
  listen(listener: () => void): void {
    this.listener = listener;
  }

  /** Says that committed rows wait. */
  raise(): void {
    if (this.listener) this.listener();
    else this.timer ??= setTimeout(() => void this.notify(), this.untilNext());
  }

  /** What was appended last is told of at once. */
  async beforeApplicationShutdown(): Promise<void> {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    // A database that hangs holds up no stop: the relay looks by itself.
    await Promise.race([this.notify(), pause(STOP_MS, undefined, { ref: false })]);
  }

  private untilNext(): number {
    return Math.max(LINGER_MS, this.notifiedAt + APART_MS - performance.now());
  }

  private async notify(): Promise<void> {
    this.timer = undefined;
    this.notifiedAt = performance.now();
    try {
      await this.database.acrossOrganizations((tx) => tx.query(NOTIFY, [OUTBOX_CHANNEL]));
    } catch (error) {
      log.debug({ err: error }, 'The relay could not be notified; it polls');
    }
  }
}
