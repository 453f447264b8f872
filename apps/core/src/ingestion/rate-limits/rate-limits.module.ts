import { Module } from '@nestjs/common';
import { Database, Installation } from '@customer-platform/database';
import { configuredRedis } from './configured-redis.js';
import { LIMIT_STORE, LimitExchange } from './limit-exchange.js';
import type { LimitStore } from './limit-store.js';
import { PostgresLimitStore } from './postgres-limit-store.js';
import { RateLimiter } from './rate-limiter.js';
import { SharedBuckets } from './shared-buckets.js';

/** Where `REDIS_URL` is given the limits are shared there, else in the module's PostgreSQL. */
async function limitStore(database: Database, installation: Installation): Promise<LimitStore> {
  return (await configuredRedis(installation)) ?? new PostgresLimitStore(database);
}

/** The limits of ingestion, which all instances of core share. */
@Module({
  providers: [
    { provide: SharedBuckets, useFactory: () => new SharedBuckets(() => performance.now()) },
    { provide: LIMIT_STORE, useFactory: limitStore, inject: [Database, Installation] },
    {
      provide: RateLimiter,
      useFactory: (buckets: SharedBuckets) => new RateLimiter(buckets),
      inject: [SharedBuckets],
    },
    LimitExchange,
  ],
  exports: [RateLimiter],
})
export class RateLimitsModule {}
