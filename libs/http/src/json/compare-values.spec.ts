import fc from 'fast-check';
import { compareValues, inOrder, valueAt, type Comparison, type OtherTypeDiffers } from './compare-values.js';

const COMPARISONS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'contains', 'prefix'] as const;
const RULES: readonly OtherTypeDiffers[] = ['never', 'unless_nested', 'always'];

describe('compareValues', () => {
  it.each<[unknown, Comparison, unknown, boolean]>([
    [1, 'eq', 1, true],
    [1, 'eq', '1', false],
    [1, 'ne', 2, true],
    ['a', 'ne', 'a', false],
    [2, 'gt', 1, true],
    [1, 'gt', 1, false],
    [1, 'gte', 1, true],
    ['2026-01-01', 'lt', '2026-01-02', true],
    [1, 'lte', '2', false],
    ['b', 'in', ['a', 'b'], true],
    ['b', 'in', [1], false],
    ['abc', 'contains', 'bc', true],
    [['a', 1], 'contains', 1, true],
    ['a1', 'contains', 1, false],
    ['abc', 'prefix', 'ab', true],
    [1, 'prefix', '1', false],
    [false, 'exists', true, true],
    [null, 'exists', true, false],
    [undefined, 'exists', false, true],
  ])('%j %s %j is %s, whatever a value of another type does', (found, comparison, wanted, expected) => {
    for (const rule of RULES) expect(compareValues(found, comparison, wanted, rule)).toBe(expected);
  });

  it.each<[unknown, unknown, boolean[]]>([
    ['1', 1, [false, true, true]],
    [true, 'a', [false, true, true]],
    [['a'], 'a', [false, false, true]],
    [{ a: 1 }, 1, [false, false, true]],
  ])('%j differs from %j, which is of another type, as each rule has it', (found, wanted, expected) => {
    expect(RULES.map((rule) => compareValues(found, 'ne', wanted, rule))).toEqual(expected);
  });

  it('finds that an absent value compares with nothing', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(undefined, null),
        fc.constantFrom(...COMPARISONS),
        fc.jsonValue(),
        fc.constantFrom(...RULES),
        (found, comparison, wanted, rule) => !compareValues(found, comparison, wanted, rule),
      ),
    );
  });
});

describe('inOrder', () => {
  it('orders numbers and texts, and nothing else', () => {
    const scalar = fc.oneof(fc.double({ noNaN: true }), fc.string(), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(scalar, scalar, (a, b) => {
        const ordered = typeof a === typeof b && (typeof a === 'number' || typeof a === 'string');
        expect(inOrder(a, 'gte', b) || inOrder(a, 'lt', b)).toBe(ordered);
        expect(inOrder(a, 'gt', b)).toBe(inOrder(b, 'lt', a));
        expect(inOrder(a, 'lte', b)).toBe(inOrder(b, 'gte', a));
      }),
    );
  });
});

describe('valueAt', () => {
  it.each<[unknown, string, boolean, boolean, unknown]>([
    [{ a: { b: 2 } }, 'a.b', false, false, 2],
    [{ a: null }, 'a', true, true, undefined],
    [{ 'a.b': 3, a: { b: 2 } }, 'a.b', true, false, 3],
    [{ 'a.b': 3, a: { b: 2 } }, 'a.b', false, false, 2],
    [{ 'a.b': { c: 4 } }, 'a.b.c', true, false, 4],
    [{ 'a.b': { c: 4 } }, 'a.b.c', false, false, undefined],
    [{ a: [{ b: 5 }] }, 'a.0.b', false, true, 5],
    [{ a: [{ b: 5 }] }, 'a.0.b', false, false, undefined],
    [{ a: 'text' }, 'a.length', true, true, undefined],
    [{}, 'toString', true, true, undefined],
    [{ a: 1 }, 'a.', true, true, undefined],
    ['text', 'length', true, true, undefined],
  ])('in %j, %s (dotted keys: %s, into lists: %s) is %j', (holder, path, dottedKeys, intoLists, value) => {
    expect(valueAt(holder, path, { dottedKeys, intoLists })).toEqual(value);
  });
});
