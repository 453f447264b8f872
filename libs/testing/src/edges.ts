/** Texts that PostgreSQL refuses, or that grow when their case changes. */
export const TEXT_EDGES = [
  '',
  '\u0000',
  'a\u0000b',
  '\uD800',
  '\uDC00x',
  'İ'.repeat(300),
  'ﬃ'.repeat(255),
  'x'.repeat(10_000),
  ' ',
];
/** Instants at the ends of the years that can be written. */
export const INSTANT_EDGES = [
  '0000-01-01T00:00:00.000Z',
  '0001-01-01T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
  '2016-12-31T23:59:59.999Z',
];
/** Ids at the ends of their range, one of them in upper case. */
export const ID_EDGES = ['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'];
/** Numbers at the ends of what integers and floats can hold. */
export const NUMBER_EDGES = [0, -1, 2 ** 31, 2 ** 53 - 1, 2 ** 53 + 2, -(2 ** 53), 1e308, 5e-324, 0.1];
