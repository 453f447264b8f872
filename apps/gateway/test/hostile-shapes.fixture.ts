/** Whether bodies are filled whole (`npm run hostile-inputs`), or to an eighth, which tells squares from proportions as well. */
export const FULL = process.env['HOSTILE_INPUTS'] === 'full';

/** Whether each route meets every shape (`npm run test:release`), or so few of them that its neighbours meet the others. */
const ALL = FULL || process.env['HOSTILE_INPUTS'] === 'all';
const ONE_OF = 8;

/** What the route at this place of its list meets: always the same, and each shape as often as any other. */
export function meets<T>(shapes: readonly T[], place: number): readonly T[] {
  return ALL ? shapes : shapes.filter((_, index) => index % ONE_OF === place % ONE_OF);
}

/** A piece of JSON of about so many bytes that is slow to look at for whoever looks at it twice. */
export interface Shape {
  readonly name: string;
  /** A value of a field. */
  readonly of: (bytes: number) => unknown;
}

/** A text of about so many bytes, as `bytesOf` counts them, that patterns are slow with. */
export interface TextShape {
  readonly name: string;
  readonly of: (bytes: number, bytesOf?: (text: string) => number) => string;
}

const bytesInJson = (text: string): number => Buffer.byteLength(JSON.stringify(text).slice(1, -1));

const repeated = (name: string, piece: string, end = ''): TextShape => ({
  name,
  of: (bytes, bytesOf = bytesInJson) =>
    piece.repeat(Math.max(1, Math.floor((bytes - end.length) / bytesOf(piece)))) + end,
});
const items = (name: string, item: (at: number) => unknown, bytesEach = BYTES_OF_A_VALUE): Shape => ({
  name,
  of: (bytes) => {
    const one = JSON.stringify(item(0)).length + 1;
    return Array.from({ length: Math.min(bytes / bytesEach, bytes / one) }, (_, at) => item(at));
  },
});

/**
 * So thinly are values spread over a body that as many are in it as a body may hold, and all of them are read. An eighth
 * of the bytes holds a third of them: what compares pairs is then seen in it too.
 */
const BYTES_OF_A_VALUE = FULL ? 24 : 8;
/** Beside more values than 10,000 a body holds no large number. */
const BYTES_OF_A_NUMBER = FULL ? 110 : 14;

/** Texts that patterns, case folding and normalization are slow with. */
export const TEXTS: readonly TextShape[] = [
  repeated('blanks', ' ', 'x'),
  repeated('one letter', 'a'),
  repeated('a@a@', 'a@'),
  repeated('dots', 'a.'),
  repeated('digits', '0', '1'),
  repeated('brackets', '('),
  repeated('opening comments', '<!--'),
  repeated('opening liquid', '{{'),
  repeated('letters that grow in lower case', 'İ'),
  repeated('letters that grow when normalized', 'ﷺ'),
  repeated('combining marks', '\u0301'),
  repeated('pairs of surrogates', '😀'),
  repeated('hyphens', '-a'),
];

/** Texts that whoever takes a list or a quoted text apart is slow with: in a query, a header or a form. */
export const PARTS: readonly TextShape[] = [
  repeated('commas', ','),
  repeated('parts', 'a,'),
  repeated('escaped commas', '%2C'),
  repeated('quotes', '"'),
  repeated('backslashes', '\\', '"'),
  repeated('semicolons', ';q='),
  repeated('addresses', '10.0.0.1,'),
  repeated('signatures', 'v1, '),
];

/** Texts and lists that patterns, searches for duplicates, case folding and normalization are slow with. */
export const SHAPES: readonly Shape[] = [
  ...TEXTS,
  items('equal items', () => 'aaaa'),
  items('different items', (at) => at.toString(36).padStart(4, '0')),
  items('different identifiers', (at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`),
  items('objects', (at) => ({ [`n${at}`]: 'a' })),
  items('large numbers', () => 1e22, BYTES_OF_A_NUMBER),
  {
    name: 'many names',
    of: (bytes) => Object.fromEntries(named(bytes, 1)),
  },
  {
    name: 'many nulls',
    of: (bytes) => Object.fromEntries(named(bytes, null)),
  },
  {
    name: 'nested lists',
    of: (bytes) =>
      Array.from(
        { length: bytes / BYTES_OF_A_VALUE / 26 },
        () => JSON.parse('['.repeat(25) + ']'.repeat(25)) as unknown,
      ),
  },
];

function named(bytes: number, value: unknown): [string, unknown][] {
  // The longest of them is `"n49999":null,`.
  return Array.from({ length: Math.min(bytes / BYTES_OF_A_VALUE, bytes / 14) }, (_, at) => [`n${at}`, value]);
}

/** Forms of so many bytes at most, the last three of as many fields as a form may have. */
export const FORMS: Readonly<Record<string, (bytes: number) => string>> = {
  'different fields': (bytes) =>
    // The longest of them is `f99999=1&`.
    Array.from({ length: Math.floor(bytes / 10) }, (_, at) => `f${at}=1`).join('&'),
  'one field again and again': (bytes) => 'a=1&'.repeat(Math.floor(bytes / 4)),
  ampersands: (bytes) => '&'.repeat(bytes),
  escapes: (bytes) => `Body=${'%20'.repeat(Math.floor((bytes - 'Body='.length) / 3))}`,
  'as many fields as are taken': (bytes) => fields(bytes, (at) => `f${at}`),
  'one field as often as it is taken': (bytes) => fields(bytes, () => 'Body'),
  'long names': (bytes) => fields(bytes, (at) => `${'n'.repeat(bytes / 2_000)}${at}`),
};

const MOST_FIELDS = 1_000;

function fields(bytes: number, nameOf: (at: number) => string): string {
  const each = bytes / MOST_FIELDS;
  return Array.from({ length: MOST_FIELDS }, (_, at) => {
    const name = nameOf(at);
    return `${name}=${String(at).padStart(Math.max(4, each - name.length - 2), 'v')}`;
  }).join('&');
}
