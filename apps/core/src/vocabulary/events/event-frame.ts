import { isUuid } from '@customer-platform/database';
import type { EventKind } from './event-schemas.js';

/** An accepted event on its way from the API to the worker. */
export interface QueuedEvent {
  readonly organizationId: string;
  readonly eventId: string;
  readonly kind: EventKind;
  /** Milliseconds since 1970: when the event was accepted. */
  readonly receivedAt: number;
  /** SHA-256 (hex) of the key, when the registry could not be asked whether it is valid (contract.md §5). */
  readonly unconfirmedKey?: string;
  /** The event as it was received, byte by byte. */
  readonly body: Buffer;
}

/** A record of the queue that is none of ours, or is cut short. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

/*
 * A record holds several events: one byte with the version of this format, then frame after frame.
 *
 *   0   1  flags: bit 0 identify, bit 1 unconfirmed
 *   1  36  organization id, as text: copying it is cheaper than converting it twice
 *  37  36  event id
 *  73   6  received at, milliseconds since 1970
 *  79   4  length of the body
 *  83  32  SHA-256 of the key, only if unconfirmed
 *   …   n  body
 */
const VERSION = 1;
const UUID = 36;
const EVENT_ID = 1 + UUID;
const RECEIVED_AT = EVENT_ID + UUID;
const BODY_LENGTH = RECEIVED_AT + 6;
const HEAD = BODY_LENGTH + 4;
const KEY_LENGTH = 32;
const IDENTIFY = 1;
const UNCONFIRMED = 2;
/** Days have years of four digits. */
const LAST_INSTANT = Date.UTC(10_000, 0, 1) - 1;

const VERSION_BYTE = Buffer.of(VERSION);

/** The frame of one event. */
export function encodeFrame(event: QueuedEvent): Buffer {
  const { unconfirmedKey, body } = event;
  const keyLength = unconfirmedKey === undefined ? 0 : KEY_LENGTH;
  const frame = Buffer.allocUnsafe(HEAD + keyLength + body.length);
  frame[0] = (event.kind === 'identify' ? IDENTIFY : 0) | (keyLength ? UNCONFIRMED : 0);
  frame.write(event.organizationId, 1, 'latin1');
  frame.write(event.eventId, EVENT_ID, 'latin1');
  frame.writeUIntBE(event.receivedAt, RECEIVED_AT, 6);
  frame.writeUInt32BE(body.length, BODY_LENGTH);
  if (unconfirmedKey !== undefined) frame.write(unconfirmedKey, HEAD, 'hex');
  body.copy(frame, HEAD + keyLength);
  return frame;
}

/** A record of several frames. */
export function encodeRecord(frames: readonly Buffer[]): Buffer {
  return Buffer.concat([VERSION_BYTE, ...frames]);
}

/**
 * The events of a record, in the order in which they were accepted.
 * @throws UnreadableRecord
 */
export function decodeRecord(record: Buffer): QueuedEvent[] {
  return decode(record, (at) => readFrame(record, at));
}

/** Organization and time of acceptance of each event, without reading further. */
export function decodeAcceptances(record: Buffer): Pick<QueuedEvent, 'organizationId' | 'receivedAt'>[] {
  return decode(record, (at) => {
    const { organizationId, receivedAt } = readHead(record, at);
    return { organizationId, receivedAt };
  });
}

function decode<T>(record: Buffer, read: (at: number) => T): T[] {
  if (record[0] !== VERSION) throw new UnreadableRecord(`a record of format ${record[0]} is not known here`);
  const events: T[] = [];
  for (let at = 1; at < record.length;) {
    const end = frameEnd(record, at);
    events.push(read(at));
    at = end;
  }
  return events;
}

function frameEnd(record: Buffer, at: number): number {
  if (at + HEAD > record.length) throw new UnreadableRecord('a frame is cut short');
  const end = bodyStart(record, at) + record.readUInt32BE(at + BODY_LENGTH);
  if (end > record.length) throw new UnreadableRecord('a body is cut short');
  return end;
}

function bodyStart(record: Buffer, at: number): number {
  return at + HEAD + (flagsAt(record, at) & UNCONFIRMED ? KEY_LENGTH : 0);
}

function readFrame(record: Buffer, at: number): QueuedEvent {
  const flags = flagsAt(record, at);
  const start = bodyStart(record, at);
  return {
    ...readHead(record, at),
    kind: flags & IDENTIFY ? 'identify' : 'track',
    unconfirmedKey: flags & UNCONFIRMED ? record.toString('hex', at + HEAD, start) : undefined,
    body: record.subarray(start, start + record.readUInt32BE(at + BODY_LENGTH)),
  };
}

function flagsAt(record: Buffer, at: number): number {
  return record.readUInt8(at);
}

/** What every reader of a frame goes by: what the database would refuse of it is refused here. */
function readHead(
  record: Buffer,
  at: number,
): Pick<QueuedEvent, 'organizationId' | 'eventId' | 'receivedAt'> {
  const receivedAt = record.readUIntBE(at + RECEIVED_AT, 6);
  if (receivedAt > LAST_INSTANT) throw new UnreadableRecord('an event was received after the year 9999');
  return {
    organizationId: readUuid(record, at + 1),
    eventId: readUuid(record, at + EVENT_ID),
    receivedAt,
  };
}

function readUuid(source: Buffer, at: number): string {
  const text = source.toString('latin1', at, at + UUID);
  // In the one form in which it comes back from the database, by which rows are found again.
  if (!isUuid(text) || text !== text.toLowerCase()) throw new UnreadableRecord('an id is none');
  return text;
}
