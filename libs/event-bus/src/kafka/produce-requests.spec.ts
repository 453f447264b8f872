import { createRequire } from 'node:module';
import { jest } from '@jest/globals';
import { writeRequestsInPlace, writtenRequest } from './produce-requests.js';

const load = createRequire(import.meta.url);

type Asked = Parameters<typeof writtenRequest>[0];
interface Written {
  readonly buffer: Buffer;
}
interface Produced {
  readonly request: { readonly apiVersion: number; encode(): Promise<Written> };
}

/** As kafkajs has it, and nothing else. */
const byKafkajs = load('kafkajs/src/protocol/requests/produce/v3/request.js') as (
  asked: Asked,
) => Produced['request'];
const versions = load('kafkajs/src/protocol/requests/produce/index.js') as {
  protocol(of: { version: number }): (asked: Asked) => Produced;
};
const frame = load('kafkajs/src/protocol/request.js') as (of: {
  correlationId: number;
  clientId: string;
  request: { apiKey: number; apiVersion: number; encode(): Promise<Written> };
}) => Promise<Written>;

const NOW = 1_750_000_000_123;
const LENGTHS = [0, 1, 63, 64, 8_191, 8_192, 70_000, 1_100_000];

function asked(part: Partial<Asked> = {}): Asked {
  const messages = [
    { key: 'one', value: '{"name":"Añá 😀"}', headers: { ce_type: 'core.contact.created.v1' } },
    { key: null, value: Buffer.from([0, 1, 255]), headers: {} },
    { value: null, headers: { many: ['1', Buffer.from('2')], none: undefined, empty: '' } },
    ...LENGTHS.map((length) => ({
      key: 'k'.repeat(length % 700),
      value: 'v'.repeat(length),
      headers: undefined,
    })),
  ];
  const one = (partition: number, firstSequence: number) => ({ partition, firstSequence, messages });
  return {
    acks: -1,
    timeout: 30_000,
    producerId: { toString: () => '9007199254740993' },
    producerEpoch: 3,
    topicData: [
      { topic: 'core.contacts', partitions: [one(0, 0), one(7, 12_345)] },
      { topic: 'ñ', partitions: [{ partition: 1, messages: messages.slice(0, 1) }] },
    ],
    ...part,
  };
}

/** kafkajs reads its own numbers only. */
function withLong(request: Asked): Asked {
  const Long = load('kafkajs/src/utils/long.js') as { fromValue(of: string): { toString(): string } };
  const { producerId, topicData } = request;
  const plain = topicData.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((partition) => ({
      ...partition,
      messages: partition.messages.map(({ headers = {}, ...message }) => ({
        ...message,
        headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
      })),
    })),
  }));
  return {
    ...request,
    topicData: plain,
    ...(producerId ? { producerId: Long.fromValue(producerId.toString()) } : {}),
  };
}

describe('requests that publish', () => {
  beforeEach(
    () => void jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }),
  );
  afterEach(() => void jest.useRealTimers());

  it.each([
    ['of a producer with sequences', asked()],
    ['of one without', asked({ producerId: undefined, producerEpoch: undefined })],
    ['of a transaction', asked({ transactionalId: 'née' })],
    ['without anything', asked({ topicData: [] })],
  ])('are byte by byte what kafkajs writes: %s', async (_, request) => {
    const { buffer } = await byKafkajs(withLong(request)).encode();
    expect(writtenRequest(request).equals(buffer)).toBe(true);
  });

  it('are written so by the client from then on, framed as ever', async () => {
    const request = withLong(asked());
    const framed = async () => {
      const { request: made } = versions.protocol({ version: 7 })(request);
      expect(made.apiVersion).toBe(7);
      const { buffer } = await frame({ correlationId: 5, clientId: 'core', request: { apiKey: 0, ...made } });
      return buffer;
    };
    const before = await framed();
    writeRequestsInPlace();
    const after = await framed();
    expect(after.equals(before)).toBe(true);
    expect(after.buffer.byteLength).toBeLessThan(after.length + 1_024);
  });

  it('are left to kafkajs where records have times of their own', async () => {
    writeRequestsInPlace();
    const messages = [{ key: 'k', value: 'v', timestamp: String(NOW - 5) }];
    const request = asked({ topicData: [{ topic: 't', partitions: [{ partition: 0, messages }] }] });
    const { buffer } = await versions.protocol({ version: 7 })(withLong(request)).request.encode();
    expect(buffer.equals((await byKafkajs(withLong(request)).encode()).buffer)).toBe(true);
  });
});
