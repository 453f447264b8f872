import { csvLine } from './csv.js';

it('writes values as RFC 4180 has it', () => {
  expect(csvLine(['a', 'b,"c"', 'd\ne', null, undefined, 5, -5, true, { f: ['g'] }])).toBe(
    'a,"b,""c""","d\ne",,,5,-5,true,"{""f"":[""g""]}"\r\n',
  );
});

it.each(['=1+1', '+1', '-1', '@a', '\t=1', '\r=1', '\n=1', '＝1', '=HYPERLINK("http://x")'])(
  'makes no formula of %j',
  (text) => {
    expect(csvLine([text]).replace(/^"/, '')).toMatch(/^'/);
  },
);

it('leaves a text alone that only holds such a character', () => {
  expect(csvLine(['a=b', 'ana@example.com', ' a'])).toBe('a=b,ana@example.com, a\r\n');
});
