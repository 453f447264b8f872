import fc from 'fast-check';
import { RecordSplitter, type RawRecord } from './record-splitter.js';

const CSV = { delimiter: 0x2c, most: 1_000 };

function split(
  text: string,
  cuts: readonly number[] = [],
  form: typeof CSV | { delimiter: null; most: number } = CSV,
) {
  const bytes = Buffer.from(text);
  const splitter = new RecordSplitter(form);
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort(
    (a, b) => a - b,
  );
  const records: RawRecord[] = [];
  for (const [index, place] of places.entries())
    records.push(...splitter.push(bytes.subarray(place, places[index + 1] ?? bytes.length)));
  const last = splitter.end();
  return [...records, ...(last ? [last] : [])].map(({ bytes: own, line, unclosed, next }) => ({
    text: own?.toString() ?? null,
    line,
    unclosed,
    next,
  }));
}

const texts = (text: string) => split(text).map((record) => record.text);

describe('RecordSplitter', () => {
  it('ends records with lines, but not within quotes', () => {
    expect(texts('a,b\r\n"c\nd","e""\n"\n\n\r\nf')).toEqual(['a,b', '"c\nd","e""\n"', 'f']);
    expect(split('a\n"b\nc"\nd\n').map(({ line }) => line)).toEqual([1, 2, 4]);
  });

  it('takes a quote within a cell for a character, and what follows quotes for a cell', () => {
    expect(texts('5" pipe\nb"\n"c"d\n')).toEqual(['5" pipe', 'b"', '"c"d']);
  });

  it('keeps nothing of what is too long, and goes on behind it', () => {
    expect(texts(`a\n"${'x\n'.repeat(600)}"\nb\n`)).toEqual(['a', null, 'b']);
  });

  it('tells of quotes that are never closed', () => {
    expect(split('a\n"b\n').map(({ unclosed }) => unclosed)).toEqual([false, true]);
  });

  it('takes for blank what spreadsheets leave behind: delimiters, empty quotes and blanks', () => {
    expect(split(',,\na,\n , ,\t\r\n"","",\nb\n').map(({ text, line }) => [text, line])).toEqual([
      ['a,', 2],
      ['b', 5],
    ]);
    const ofJson = split(' \n{}\n\t\n', [], { delimiter: null, most: 1_000 });
    expect(ofJson.map(({ text }) => text)).toEqual(['{}']);
  });

  it('passes over blank lines, counts them, and knows where it stands behind them', () => {
    const splitter = new RecordSplitter(CSV);
    expect([...splitter.push(Buffer.from('\n\r\n\n'))]).toEqual([]);
    expect([splitter.blankLines, splitter.between]).toEqual([3, { at: 4, line: 4 }]);
    const [record] = [...splitter.push(Buffer.from('\na\n\n\r'))];
    expect(record).toMatchObject({ line: 5, next: { at: 7, line: 6 } });
    expect([splitter.blankLines, splitter.between]).toEqual([5, undefined]);
    expect([...splitter.push(Buffer.from('\n'))]).toEqual([]);
    expect([splitter.blankLines, splitter.between]).toEqual([6, { at: 10, line: 8 }]);
    expect([...splitter.push(Buffer.from('"\n\n'))]).toEqual([]);
    expect([splitter.blankLines, splitter.unended]).toEqual([6, { bytes: 3, line: 8 }]);
  });

  it('takes each line of JSON for a record', () => {
    const json = { delimiter: null, most: 1_000 } as const;
    expect(split('{"a":"\\""}\n\n"\n', [], json).map(({ text }) => text)).toEqual(['{"a":"\\""}', '"']);
  });

  it('finds the same wherever the bytes are cut, and from wherever it begins', () => {
    const character = fc.constantFrom('a', ',', '"', '\n', '\r', 'ñ');
    const text = fc.string({ unit: character, maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(100), { maxLength: 5 }), (given, cuts) => {
        const whole = split(given);
        expect(split(given, cuts)).toEqual(whole);
        const bytes = Buffer.from(given);
        for (const [index, { next }] of whole.entries()) {
          const splitter = new RecordSplitter(CSV, next.at, next.line);
          const rest = [...splitter.push(bytes.subarray(next.at))];
          const last = splitter.end();
          const lines = [...rest, ...(last ? [last] : [])].map(({ line }) => line);
          expect(lines).toEqual(whole.slice(index + 1).map(({ line }) => line));
        }
      }),
    );
  });
});
