import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../messaging.config.js';

/** Twice as long as Kafka keeps an event: until then an event that comes again must be known. */
const KEPT_MS = 14 * 86_400_000;
const EVERY_MS = 10 * 60_000;
const ROWS_AT_ONCE = 5_000;

const FORGET = `
  DELETE FROM webhook_deliveries WHERE ctid = ANY (ARRAY(
    SELECT d.ctid FROM webhook_deliveries d WHERE d.created_at < $1 AND (d.due_at IS NULL OR NOT EXISTS (
        SELECT 1 FROM webhook_endpoints e WHERE e.organization_id = d.organization_id AND e.id = d.endpoint_id
           AND e.enabled AND e.deleted_at IS NULL))
     ORDER BY d.created_at LIMIT ${String(ROWS_AT_ONCE)} FOR UPDATE OF d SKIP LOCKED))
  RETURNING 1`;

/** Forgets, in small steps, what has come to its end long ago, and what a disabled endpoint has kept waiting as long. */
@Injectable()
export class DeliveryRetention implements OnApplicationBootstrap, OnModuleDestroy {
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

  /** Removes everything older than 14 days; returns how many rows went. */
  async sweep(): Promise<number> {
    const before = new Date(this.clock.now().getTime() - KEPT_MS);
    let removed = 0;
    try {
      for (let step = ROWS_AT_ONCE; step === ROWS_AT_ONCE && !this.stopping; removed += step)
        step = (await this.database.acrossOrganizations((tx) => tx.query(FORGET, [before]))).length;
    } catch (error) {
      log.warn({ err: error }, 'Old webhook deliveries could not be removed; the next sweep will');
    }
    return removed;
  }
}
