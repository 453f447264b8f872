import { objectOf, readJson } from './exact-json.ts';

describe('JSON that a person writes', () => {
  it.each([
    ['{"order": 9007199254740993}', '9007199254740993'],
    ['[-9007199254740993]', '-9007199254740993'],
    ['[1, 9007199254740992.5]', '9007199254740992.5'],
    ['[900719925474099.3e1]', '900719925474099.3e1'],
    ['1e400', '1e400'],
    ['12345678901234567890', '12345678901234567890'],
  ])('%s is refused for a number that would be another', (text, number) => {
    expect(readJson(text)).toEqual({ fault: 'inexact', number });
  });

  it.each([
    ['{"order": "9007199254740993", "said \\" 9007199254740993": 0.1}'],
    ['[9007199254740991, 9007199254740992, 1e20, 1e21, 12.5, 0e999]'],
    ['null'],
  ])('%s is read, and written as the same', (text) => {
    const read = readJson(text);
    expect(read).toEqual({ value: JSON.parse(text) as unknown });
    expect(readJson(JSON.stringify('value' in read ? read.value : ''))).toEqual(read);
  });

  it.each([[''], ['{'], ['01'], ['nil']])('%j is no JSON', (text) => {
    expect(readJson(text)).toEqual({ fault: 'noJson' });
  });

  it('is an object, or is taken for none', () => {
    expect(objectOf(readJson('{"a": 1}'))).toEqual({ a: 1 });
    expect(['[1]', 'null', '"a"', '{"a": 9007199254740993}'].map((text) => objectOf(readJson(text)))).toEqual(
      [undefined, undefined, undefined, undefined],
    );
  });
});
