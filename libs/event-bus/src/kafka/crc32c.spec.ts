import { createRequire } from 'node:module';
import fc from 'fast-check';
import { crc32C } from './crc32c.js';

const byKafkajs = createRequire(import.meta.url)('kafkajs/src/protocol/recordBatch/crc32C/index.js') as (
  bytes: Uint8Array,
) => number;

describe('crc32C', () => {
  it('is that of the digits, as the catalogue of checksums has it', () => {
    expect(crc32C(Buffer.from('123456789'))).toBe(0xe306_9283);
  });

  it('is what kafkajs computes, of any bytes in any buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(8), (bytes, from) => {
        const part = bytes.subarray(from);
        expect(crc32C(part)).toBe(byKafkajs(part));
      }),
    );
  });
});
