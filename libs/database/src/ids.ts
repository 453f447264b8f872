import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** Random bytes are fetched for 256 ids at once: for each by itself they are nine tenths of what an id costs. */
const pool = new Uint8Array(4_096);
const BYTES_OF_ONE = 16;
let used = pool.length;

/** The last id's millisecond and its place within it. */
let msecs = 0;
let seq = 0;

/** A fresh UUID version 7 (RFC 9562): sorts by the time it was made, also within one millisecond of one process. */
export function newId(): string {
  const random = freshBytes();
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    // Without its topmost bit, so that there is room to count up.
    seq = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
  } else {
    seq = (seq + 1) >>> 0;
    if (seq === 0) msecs += 1;
  }
  return v7({ random, msecs, seq });
}

/** The millisecond in which an id of {@link newId} was made. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

function freshBytes(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += BYTES_OF_ONE;
  return pool.subarray(used - BYTES_OF_ONE, used);
}
