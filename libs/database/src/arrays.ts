/**
 * Arrays as PostgreSQL's binary format has them (`array_recv`), for statements that take many rows at once: as text
 * each element is quoted, escaped and joined here, and taken apart and unquoted there. The element type must be that
 * of the parameter, to the letter: `uuids` for `$1::uuid[]`, and so on; anything else is refused by the server.
 */

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL = -1;

/** Types by their number in `pg_type`, the same in every PostgreSQL. */
const TYPE = { bytea: 17, int8: 20, int4: 23, text: 25, json: 114, timestamptz: 1184, uuid: 2950 } as const;

type Maybe<T> = T | null | undefined;

/** For `uuid[]`. @throws TypeError for what is no UUID in the hyphenated form */
export function uuids(values: readonly Maybe<string>[]): Buffer {
  return fixed(TYPE.uuid, 16, values, writeUuid);
}

/** For `bigint[]`. @throws RangeError for what is no integer that JavaScript holds exactly */
export function bigints(values: readonly Maybe<number>[]): Buffer {
  return fixed(TYPE.int8, 8, values, (into, at, value) => {
    if (!Number.isSafeInteger(value)) throw new RangeError('No exact integer');
    into.writeBigInt64BE(BigInt(value), at);
  });
}

/** For `integer[]`. @throws RangeError for what is none of 32 bits */
export function integers(values: readonly Maybe<number>[]): Buffer {
  return fixed(TYPE.int4, 4, values, (into, at, value) => {
    if (value !== (value | 0)) throw new RangeError('No integer of 32 bits');
    into.writeInt32BE(value, at);
  });
}

/** 2000-01-01, from which PostgreSQL counts. */
const EPOCH_MS = 946_684_800_000;

/** For `timestamptz[]`, of dates or of texts that `Date.parse` reads. @throws RangeError for what is no time */
export function timestamps(values: readonly Maybe<Date | string>[]): Buffer {
  return fixed(TYPE.timestamptz, 8, values, (into, at, value) => {
    const ms = typeof value === 'string' ? Date.parse(value) : value.getTime();
    if (Number.isNaN(ms)) throw new RangeError('No time');
    into.writeBigInt64BE(BigInt(ms - EPOCH_MS) * 1_000n, at);
  });
}

/** For `bytea[]`. */
export function byteas(values: readonly Maybe<Uint8Array>[]): Buffer {
  return varying(TYPE.bytea, values);
}

/** For `text[]`. */
export function texts(values: readonly Maybe<string>[]): Buffer {
  return encoded(TYPE.text, values);
}

/** For `json[]`, of values that are JSON already. */
export function jsons(values: readonly Maybe<string>[]): Buffer {
  return encoded(TYPE.json, values);
}

function fixed<T>(
  type: number,
  size: number,
  values: readonly Maybe<T>[],
  write: (into: Buffer, at: number, value: T) => void,
): Buffer {
  const into = Buffer.allocUnsafe(HEADER_BYTES + values.length * (LENGTH_BYTES + size));
  let [at, nulls] = [HEADER_BYTES, 0];
  for (const value of values) {
    if (value == null) {
      at = into.writeInt32BE(NULL, at);
      nulls += 1;
      continue;
    }
    at = into.writeInt32BE(size, at);
    write(into, at, value);
    at += size;
  }
  return header(into, type, values.length, nulls > 0).subarray(0, at);
}

function varying(type: number, values: readonly Maybe<Uint8Array>[]): Buffer {
  const bytes = values.reduce((sum, value) => sum + LENGTH_BYTES + (value?.length ?? 0), HEADER_BYTES);
  const into = Buffer.allocUnsafe(bytes);
  let [at, nulls] = [HEADER_BYTES, 0];
  for (const value of values) {
    at = into.writeInt32BE(value?.length ?? NULL, at);
    if (value == null) nulls += 1;
    else {
      into.set(value, at);
      at += value.length;
    }
  }
  return header(into, type, values.length, nulls > 0);
}

/** Texts in UTF-8, written where they go: a buffer for each would cost more than they do. */
function encoded(type: number, values: readonly Maybe<string>[]): Buffer {
  const lengths = values.map((value) => (value == null ? NULL : Buffer.byteLength(value)));
  const bytes = lengths.reduce((sum, length) => sum + LENGTH_BYTES + Math.max(0, length), HEADER_BYTES);
  const into = Buffer.allocUnsafe(bytes);
  let [at, nulls] = [HEADER_BYTES, 0];
  for (const [index, value] of values.entries()) {
    at = into.writeInt32BE(lengths[index] ?? NULL, at);
    if (value == null) nulls += 1;
    else at += into.write(value, at);
  }
  return header(into, type, values.length, nulls > 0);
}

/** Dimensions, whether NULLs are among them, the type, and of the one dimension how many and from where. */
function header(into: Buffer, type: number, count: number, nulls: boolean): Buffer {
  const words = [1, nulls ? 1 : 0, type, count, 1];
  words.forEach((word, index) => into.writeInt32BE(word, index * 4));
  return into;
}

const HYPHEN = '-'.charCodeAt(0);
/** Before which of its sixteen bytes a hyphen stands. */
const AFTER_HYPHEN = Uint8Array.from({ length: 16 }, (_, byte) => Number([4, 6, 8, 10].includes(byte)));

/** The value of each hexadecimal digit's character; 255 of all others. */
const DIGITS = new Uint8Array(128).fill(255);
for (const [digit, character] of [...'0123456789abcdef'].entries()) {
  DIGITS[character.charCodeAt(0)] = digit;
  DIGITS[character.toUpperCase().charCodeAt(0)] = digit;
}

function writeUuid(into: Buffer, at: number, text: string): void {
  if (text.length !== 36) throw new TypeError('No UUID');
  let from = 0;
  for (let byte = 0; byte < 16; byte += 1) {
    if (AFTER_HYPHEN[byte] === 1) {
      if (text.charCodeAt(from) !== HYPHEN) throw new TypeError('No UUID');
      from += 1;
    }
    const high = DIGITS[text.charCodeAt(from)] ?? 255;
    const low = DIGITS[text.charCodeAt(from + 1)] ?? 255;
    if ((high | low) > 15) throw new TypeError('No UUID');
    into[at + byte] = (high << 4) | low;
    from += 2;
  }
}
