import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { log } from '@customer-platform/http';

/** The Postgres channel on which a process without a relay tells the others that rows wait. */
export const OUTBOX_CHANNEL = 'outbox_appended';

/** How long notifications are gathered: one statement tells of all appends within it. */
const GATHER_MS = 5;

/**
 * Wakes the relay after a commit. The relay of this process is called directly. Without one, a notification is sent
 * by a transaction of its own: inside the business transaction NOTIFY would take a database-wide lock at commit and
 * make all commits wait for each other. A lost notification costs at most one polling interval.
 */
@Injectable()
export class OutboxSignal implements OnApplicationShutdown {
  private listener: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {}

  /** The relay of this process asks to be called. */
  listen(listener: () => void): void {
    this.listener = listener;
  }

  /** Says that committed rows wait. */
  raise(): void {
    if (this.listener) this.listener();
    else this.timer ??= setTimeout(() => void this.notify(), GATHER_MS);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  private async notify(): Promise<void> {
    this.timer = undefined;
    try {
      await this.database.acrossOrganizations((tx) => tx.query(`SELECT pg_notify($1, '')`, [OUTBOX_CHANNEL]));
    } catch (error) {
      log.debug({ err: error }, 'The relay could not be notified; it polls');
    }
  }
}
