/** How many queues the outbox is; each is relayed in order, by one relay at a time. Never changed: order hangs on it. */
export const SHARDS = 16;

/** The shard of a key: FNV-1a over its UTF-16 units, folded. */
export function shardOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return ((hash ^ (hash >>> 16)) >>> 0) % SHARDS;
}
