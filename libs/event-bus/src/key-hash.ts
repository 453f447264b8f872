/**
 * FNV-1a over UTF-16 units, folded to 32 bits: what keys are spread by where nobody but the platform writes. Kafka's own
 * hash, which kafkajs computes in 64-bit steps, took 3 % of an accepting request's time (measured).
 */
export function keyHash(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 16)) >>> 0;
}
