import { keyHash } from '../key-hash.js';

/** How many queues the outbox is; each is relayed in order, by one relay at a time. Never changed: order hangs on it. */
export const SHARDS = 16;

/**
 * A queue's table is mostly rows that are gone, and was empty when it was last analyzed: the planner would rather read
 * all of it, once for each shard (measured: 5 ms instead of 0.1), and only a walk along the index clears the way for the
 * next one.
 */
export const BY_INDEX =
  'SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off';

/** The shard of a key. */
export function shardOf(key: string): number {
  return keyHash(key) % SHARDS;
}
