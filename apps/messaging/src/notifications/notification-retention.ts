import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { MESSAGING_CONFIG, type MessagingConfig } from '../messaging.config.js';
import { NOTIFICATION_LIFE_MS } from './notification-life.js';

const EVERY_MS = 10 * 60_000;
const ROWS_AT_ONCE = 5_000;

const FORGET = `
  DELETE FROM notifications WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM notifications WHERE created_at < $1
     ORDER BY created_at LIMIT ${String(ROWS_AT_ONCE)} FOR UPDATE SKIP LOCKED))
  RETURNING 1`;

/** Removes, in small steps, what nobody is shown any more. */
@Injectable()
export class NotificationRetention implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.worker) return;
    this.timer = setInterval(() => void this.sweep(), EVERY_MS);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    this.stopping = true;
    clearInterval(this.timer);
  }

  /** Removes everything older than 90 days; returns how many rows went. */
  async sweep(): Promise<number> {
    const before = new Date(this.clock.now().getTime() - NOTIFICATION_LIFE_MS);
    let removed = 0;
    try {
      for (let step = ROWS_AT_ONCE; step === ROWS_AT_ONCE && !this.stopping; removed += step)
        step = (await this.database.acrossOrganizations((tx) => tx.query(FORGET, [before]))).length;
    } catch (error) {
      log.warn({ err: error }, 'Old notifications could not be removed; the next sweep will');
    }
    return removed;
  }
}
