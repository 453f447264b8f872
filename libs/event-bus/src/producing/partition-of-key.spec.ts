import fc from 'fast-check';
import { Partitioners } from 'kafkajs';
import { partitionOfKey } from './partition-of-key.js';

const byKafkajs = Partitioners.DefaultPartitioner();

describe('partitionOfKey', () => {
  it('is where kafkajs puts the key, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 80 }),
        fc.integer({ min: 1, max: 1_000 }),
        (key, size) => {
          const partitionMetadata = Array.from({ length: size }, (_, partitionId) => ({
            partitionErrorCode: 0,
            partitionId,
            leader: 0,
            replicas: [],
            isr: [],
          }));
          const expected = byKafkajs({ topic: 'any', partitionMetadata, message: { key, value: null } });
          expect(partitionOfKey(key, size)).toBe(expected);
        },
      ),
    );
  });
});
