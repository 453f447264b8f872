import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import kafkajs, { type Message } from 'kafkajs';
import type { KafkaClient } from '../src/kafka/kafka.client.js';

const { CompressionCodecs, CompressionTypes } = kafkajs;
const unknown = CompressionCodecs[CompressionTypes.ZSTD];

/** What works here can read and write a compression that no consumer of ours knows, as Kafka's own tools can. */
async function knowingZstd<T>(work: () => Promise<T>): Promise<T> {
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: ({ buffer }: { buffer: Buffer }) => Promise.resolve(zstdCompressSync(buffer)),
    decompress: (buffer: Buffer) => Promise.resolve(zstdDecompressSync(buffer)),
  });
  try {
    return await work();
  } finally {
    CompressionCodecs[CompressionTypes.ZSTD] = unknown;
  }
}

/** Writes these as one batch in zstd. */
export async function sendCompressed(
  client: KafkaClient,
  topic: string,
  messages: Message[] = [{ key: 'k', value: 'compressed' }],
): Promise<void> {
  const producer = client.producer();
  await producer.connect();
  try {
    await knowingZstd(() =>
      producer.send({ topic: client.named(topic), messages, compression: CompressionTypes.ZSTD }),
    );
  } finally {
    await producer.disconnect();
  }
}

/** Reads the records of the first partition from this offset to that (exclusive), in whatever compression they are. */
export async function readAny(
  client: KafkaClient,
  topic: string,
  { from, to }: { from: number; to: number },
): Promise<Message[]> {
  const name = client.named(topic);
  const consumer = client.consumer(`${topic}.operator`);
  const read = new Map<number, Message>();
  const done = Promise.withResolvers<void>();
  await consumer.connect();
  try {
    await consumer.subscribe({ topic: name });
    await knowingZstd(async () => {
      await consumer.run({
        eachMessage: ({ partition, message: { key, value, headers, offset } }) => {
          const at = Number(offset);
          if (partition === 0 && at >= from && at < to) read.set(at, { key, value, headers });
          if (read.size === to - from) done.resolve();
          return Promise.resolve();
        },
      });
      consumer.seek({ topic: name, partition: 0, offset: String(from) });
      await done.promise;
    });
  } finally {
    await consumer.disconnect();
  }
  return [...read.values()];
}
