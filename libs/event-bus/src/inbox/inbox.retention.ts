import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Database } from '@customer-platform/database';
import { log } from '@customer-platform/http';

/** Twice as long as Kafka keeps an event. */
const KEPT_DAYS = 14;
const EVERY_MS = 10 * 60_000;
const ROWS_AT_ONCE = 5_000;

const FORGET = `
  DELETE FROM inbox WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM inbox WHERE claimed_at < now() - interval '${String(KEPT_DAYS)} days'
     LIMIT ${String(ROWS_AT_ONCE)} FOR UPDATE SKIP LOCKED))
  RETURNING 1`;

/** Forgets, in small steps, the events that Kafka can no longer deliver again. */
@Injectable()
export class InboxRetention implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(private readonly database: Database) {}

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
    this.timer = setInterval(() => void this.sweep(), EVERY_MS);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    this.stopping = true;
    clearInterval(this.timer);
  }

  /** Removes everything older than 14 days; returns how many rows went. */
  async sweep(): Promise<number> {
    let removed = 0;
    try {
      for (let step = ROWS_AT_ONCE; step === ROWS_AT_ONCE && !this.stopping; removed += step) {
        step = (await this.database.acrossOrganizations((tx) => tx.query(FORGET))).length;
      }
    } catch (error) {
      log.warn({ err: error }, 'Old rows of the inbox could not be removed; the next sweep will');
    }
    return removed;
  }
}
