/** CRC-32C (Castagnoli), its polynomial with the lowest power first. */
const POLYNOMIAL = 0x82f6_3b78;
const BYTES_AT_ONCE = 8;
const VALUES = 256;

/** What a byte does to the sum by how many others follow it within eight: a table of 256 for each, one after the other. */
const TABLES = new Int32Array(BYTES_AT_ONCE * VALUES);
for (let byte = 0; byte < VALUES; byte += 1) {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
  TABLES[byte] = sum;
}
for (let at = VALUES; at < TABLES.length; at += 1) {
  const before = TABLES[at - VALUES] ?? 0;
  TABLES[at] = (TABLES[before & 255] ?? 0) ^ (before >>> 8);
}

/** The checksum of a batch of records, eight bytes at a time: kafkajs takes one at a time, and twice as long. */
export function crc32C(bytes: Uint8Array): number {
  const tables = TABLES;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length - (bytes.length % BYTES_AT_ONCE);
  let sum = -1;
  let at = 0;
  for (; at < whole; at += BYTES_AT_ONCE) {
    const low = sum ^ view.getInt32(at, true);
    const high = view.getInt32(at + 4, true);
    sum =
      of(tables, 7, low) ^
      of(tables, 6, low >>> 8) ^
      of(tables, 5, low >>> 16) ^
      of(tables, 4, low >>> 24) ^
      of(tables, 3, high) ^
      of(tables, 2, high >>> 8) ^
      of(tables, 1, high >>> 16) ^
      of(tables, 0, high >>> 24);
  }
  for (; at < bytes.length; at += 1) sum = of(tables, 0, sum ^ view.getUint8(at)) ^ (sum >>> 8);
  return ~sum >>> 0;
}

function of(tables: Int32Array, following: number, byte: number): number {
  return tables[following * VALUES + (byte & 255)] as number;
}
