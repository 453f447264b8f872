import { valueAt } from './values.js';

describe('a dotted path', () => {
  it.each<[unknown, string, unknown]>([
    [{ a: 1 }, 'a', 1],
    [{ a: { b: 2 } }, 'a.b', 2],
    [{ 'a.b': 3, a: { b: 2 } }, 'a.b', 3],
    [{ 'a.b': { c: 4 } }, 'a.b.c', 4],
    [{ a: null }, 'a', undefined],
    [{ a: [1] }, 'a.0', undefined],
    [{ a: 'text' }, 'a.length', undefined],
    [{}, 'toString', undefined],
    ['text', 'length', undefined],
  ])('in %j, %s is %j', (holder, path, value) => {
    expect(valueAt(holder, path)).toEqual(value);
  });
});
