import { randomUUID } from 'node:crypto';
import { shardOf, SHARDS } from './shards.js';

describe('shardOf', () => {
  it('never changes: rows that wait must stay in the queue their key is in', () => {
    expect(['', 'a', '018f2a7e-0000-7000-8000-000000000000', 'árbol'].map(shardOf)).toMatchInlineSnapshot(`
     [
       9,
       0,
       12,
       5,
     ]
    `);
  });

  it('spreads ids over all shards', () => {
    const counts = new Array<number>(SHARDS).fill(0);
    for (let i = 0; i < 16_000; i += 1) {
      const shard = shardOf(randomUUID());
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(700);
    expect(Math.max(...counts)).toBeLessThan(1_300);
  });
});
