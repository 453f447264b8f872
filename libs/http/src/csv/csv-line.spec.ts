import { csvLine } from './csv-line.js';

/** The beginning of a formula, wherever the cells are cut. */
const FORMULA = /(^|[,;\t\r\n])[\s"]*[=+\-@＝＋－＠]/u;

it('writes values as RFC 4180 has it', () => {
  expect(csvLine(['a', 'b,"c"', 'd\ne', null, undefined, 5, -5, true, { f: ['g'] }, 'h;i', 'j\tk'])).toBe(
    'a,"b,""c""","d\ne",,,5,-5,true,"{""f"":[""g""]}","h;i","j\tk"\r\n',
  );
});

it.each([
  '=1+1',
  '+1',
  '-1',
  '@a',
  ' =1',
  '   =1',
  '\u00a0=1',
  '\t=1',
  '\r=1',
  '\n=1',
  '\t',
  '＝1',
  '=HYPERLINK("http://x")',
  '"=1"',
])('makes no formula of %j at the beginning', (text) => {
  expect(csvLine([text]).replace(/^"/, '')).toMatch(/^'/);
});

it.each(['x;=1', 'x;  =1', 'x;"=1"', 'x\t=1', 'x\r\n=1', 'x,=1', 'a;b;+1;c', '=1;=2'])(
  'makes no formula of %j, whatever ends a cell',
  (text) => {
    expect(csvLine([text])).not.toMatch(FORMULA);
  },
);

it('leaves JSON what it is, and cuts no cell in it', () => {
  const value = { note: 'x;=HYPERLINK("http://x")', tabbed: '\t=1', list: ['=1', -5] };
  const cell = csvLine([value]).trimEnd();
  expect(cell).not.toMatch(/[;\t]/);
  expect(JSON.parse(cell.slice(1, -1).replaceAll('""', '"'))).toEqual(value);
});

it('leaves a text alone that only holds such a character', () => {
  expect(csvLine(['a=b', 'ana@example.com', ' a', 'x - y'])).toBe('a=b,ana@example.com, a,x - y\r\n');
});
