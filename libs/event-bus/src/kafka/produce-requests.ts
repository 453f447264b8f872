import { createRequire } from 'node:module';
import { crc32C } from './crc32c.js';

/** A record as kafkajs hands it to the writing of a request. */
interface Message {
  readonly key?: Buffer | string | null;
  readonly value: Buffer | string | null;
  readonly headers?: Readonly<Record<string, HeaderValue | readonly HeaderValue[] | undefined>> | undefined;
  /** Milliseconds since 1970, in digits. */
  readonly timestamp?: string | null;
}

type HeaderValue = Buffer | string;

/** What is to be written at once, the records of a partition together. */
interface Produce {
  readonly acks: number;
  readonly timeout: number;
  readonly transactionalId?: string | null;
  /** A 64-bit integer of kafkajs's own. */
  readonly producerId?: { toString(): string };
  readonly producerEpoch?: number;
  readonly compression?: number;
  readonly topicData: readonly {
    readonly topic: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly firstSequence?: number;
      readonly messages: readonly Message[];
    }[];
  }[];
}

/** What kafkajs writes to, as far as this file is concerned. */
interface Encoder {
  buf: Buffer;
  offset: number;
  ensureAvailable: (this: Encoder, bytes: number) => void;
}

type Make = (asked: Produce) => { request: { encode: () => Promise<Encoder> } };

/** The versions of a request. */
interface Versions {
  protocol: (of: { version: number }) => Make;
}

/** From which on records come in batches with headers. */
const BATCHES_SINCE = 3;

const load = createRequire(import.meta.url);
const EncoderClass = load('kafkajs/src/protocol/encoder.js') as (new (bytes: number) => Encoder) & {
  prototype: Encoder;
};

let replaced = false;

/**
 * kafkajs 2.2.4 gives each record and each header a buffer of half a kilobyte, grows it by doubling, and copies it five
 * times on its way to the socket: the largest part of what publishing costs. Here a request of plain records is measured
 * first and then written where it stays. What is compressed, or carries times of its own, is left to kafkajs.
 */
export function writeRequestsInPlace(): void {
  if (replaced) return;
  replaced = true;
  const produce = load('kafkajs/src/protocol/requests/produce/index.js') as Versions;
  const protocol = produce.protocol.bind(produce);
  produce.protocol = (of) => {
    const make = protocol(of);
    if (of.version < BATCHES_SINCE) return make;
    return (asked) => {
      const made = make(asked);
      if (isPlain(asked)) made.request.encode = () => Promise.resolve(encoderOf(writtenRequest(asked)));
      return made;
    };
  };
  EncoderClass.prototype.ensureAvailable = growToFit;
}

/** As much as is asked for, or twice what there was: the head of a request is not given as much again as its body. */
function growToFit(this: Encoder, bytes: number): void {
  const needed = this.offset + bytes;
  if (needed <= this.buf.length) return;
  const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.buf.length));
  this.buf.copy(grown, 0, 0, this.offset);
  this.buf = grown;
}

function encoderOf(written: Buffer): Encoder {
  const encoder = new EncoderClass(1);
  encoder.buf = written;
  encoder.offset = written.length;
  return encoder;
}

function isPlain({ compression = 0, topicData }: Produce): boolean {
  return (
    compression === 0 &&
    topicData.every(({ partitions }) =>
      partitions.every(({ messages }) => messages.every(({ timestamp }) => timestamp == null)),
    )
  );
}

const NO_PRODUCER = '-1';
const MAGIC = 2;
/** Of a batch what stands ahead of its own length, that included. */
const AHEAD_OF_BATCH = 12;
/** Epoch of the leader, magic, checksum; attributes, last offset, two times, producer, its epoch, sequence; count. */
const BATCH_HEAD = 9 + 40;

/** The body of a request, as Kafka's protocol has it from version 3 on (Produce Request, RecordBatch 2). */
export function writtenRequest(asked: Produce): Buffer {
  const { acks, timeout, transactionalId = null, topicData } = asked;
  const sizes = measured(asked);
  let bytes = 2 + textBytes(transactionalId) + 2 + 4 + 4;
  for (const { topic, partitions } of topicData) {
    bytes += 2 + textBytes(topic) + 4 + partitions.length * (8 + AHEAD_OF_BATCH + BATCH_HEAD);
  }
  for (const size of sizes) bytes += varIntBytes(size) + size;
  const into = new Writing(bytes, sizes);
  into.text(transactionalId);
  into.int16(acks);
  into.int32(timeout);
  into.int32(topicData.length);
  const now = BigInt(Date.now());
  for (const { topic, partitions } of topicData) {
    into.text(topic);
    into.int32(partitions.length);
    for (const each of partitions) writeBatch(into, asked, each, now);
  }
  return into.buffer;
}

type Partition = Produce['topicData'][number]['partitions'][number];

function writeBatch(
  into: Writing,
  { transactionalId, producerId, producerEpoch = 0 }: Produce,
  { partition, firstSequence = 0, messages }: Partition,
  now: bigint,
): void {
  into.int32(partition);
  const sizeAt = into.skip(4);
  const began = into.at;
  into.int64(0n);
  const lengthAt = into.skip(4);
  into.int32(0);
  into.int8(MAGIC);
  const crcAt = into.skip(4);
  const checked = into.at;
  into.int16(transactionalId ? TRANSACTIONAL : 0);
  into.int32(messages.length - 1);
  into.int64(now);
  into.int64(now);
  into.int64(BigInt(producerId?.toString() ?? NO_PRODUCER));
  into.int16(producerEpoch);
  into.int32(firstSequence);
  into.int32(messages.length);
  for (const [at, message] of messages.entries()) writeRecord(into, at, message);
  const { buffer, at: ended } = into;
  buffer.writeInt32BE(ended - began, sizeAt);
  buffer.writeInt32BE(ended - began - AHEAD_OF_BATCH, lengthAt);
  buffer.writeUInt32BE(crc32C(buffer.subarray(checked, ended)), crcAt);
}

const TRANSACTIONAL = 16;

function writeRecord(into: Writing, place: number, { key, value, headers }: Message): void {
  into.varInt(into.nextSize());
  into.int8(0);
  // No time of its own: that of the batch.
  into.int8(0);
  into.varInt(place);
  into.varBytes(key);
  into.varBytes(value);
  if (!headers) return into.int8(0);
  let count = 0;
  eachHeader(headers, () => (count += 1));
  into.varInt(count);
  eachHeader(headers, (name, header) => {
    into.varBytes(name);
    into.varBytes(header);
  });
}

/** How long each record is, without its length, in the order in which they are written. */
function measured({ topicData }: Produce): number[] {
  const sizes: number[] = [];
  for (const { partitions } of topicData) {
    for (const { messages } of partitions) {
      for (const [place, { key, value, headers }] of messages.entries())
        sizes.push(
          2 + varIntBytes(place) + bytesWithLength(key) + bytesWithLength(value) + headerBytes(headers),
        );
    }
  }
  return sizes;
}

function headerBytes(headers: Message['headers']): number {
  if (!headers) return 1;
  let count = 0;
  let bytes = 0;
  eachHeader(headers, (name, value) => {
    count += 1;
    bytes += bytesWithLength(name) + bytesWithLength(value);
  });
  return varIntBytes(count) + bytes;
}

function eachHeader(
  headers: NonNullable<Message['headers']>,
  visit: (name: string, value: HeaderValue) => void,
): void {
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (typeof value === 'string' || Buffer.isBuffer(value)) visit(name, value);
    else for (const one of value ?? []) visit(name, one);
  }
}

function textBytes(text: string | null): number {
  return text === null ? 0 : Buffer.byteLength(text);
}

function bytesWithLength(value: HeaderValue | null | undefined): number {
  if (value == null) return 1;
  const bytes = Buffer.byteLength(value);
  return varIntBytes(bytes) + bytes;
}

/** Of a length: these are never negative. */
function varIntBytes(value: number): number {
  if (value < 0x40) return 1;
  if (value < 0x2000) return 2;
  if (value < 0x10_0000) return 3;
  return value < 0x800_0000 ? 4 : 5;
}

/** A buffer and how far it is written. */
class Writing {
  at = 0;
  readonly buffer: Buffer;
  private read = 0;

  constructor(
    bytes: number,
    private readonly sizes: readonly number[],
  ) {
    this.buffer = Buffer.allocUnsafe(bytes);
  }

  nextSize(): number {
    this.read += 1;
    return this.sizes[this.read - 1] ?? 0;
  }

  /** Leaves room for what is known later. @returns where */
  skip(bytes: number): number {
    this.at += bytes;
    return this.at - bytes;
  }

  int8(value: number): void {
    this.at = this.buffer.writeInt8(value, this.at);
  }

  int16(value: number): void {
    this.at = this.buffer.writeInt16BE(value, this.at);
  }

  int32(value: number): void {
    this.at = this.buffer.writeInt32BE(value, this.at);
  }

  int64(value: bigint): void {
    this.at = this.buffer.writeBigInt64BE(value, this.at);
  }

  text(value: string | null): void {
    this.int16(value === null ? -1 : Buffer.byteLength(value));
    if (value !== null) this.at += this.buffer.write(value, this.at);
  }

  /** A length: zigzag leaves the lowest bit to the sign. */
  varInt(value: number): void {
    let rest = (value << 1) >>> 0;
    while (rest > 0x7f) {
      this.buffer[this.at] = (rest & 0x7f) | 0x80;
      this.at += 1;
      rest >>>= 7;
    }
    this.buffer[this.at] = rest;
    this.at += 1;
  }

  varBytes(value: HeaderValue | null | undefined): void {
    // What is not there has the length -1.
    if (value == null) return this.int8(1);
    this.varInt(Buffer.byteLength(value));
    this.at +=
      typeof value === 'string' ? this.buffer.write(value, this.at) : value.copy(this.buffer, this.at);
  }
}
