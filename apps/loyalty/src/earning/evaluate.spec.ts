import { aRecordedEvent } from '../loyalty.fixture.js';
import type { Condition, RuleContent } from '../rules/rule.js';
import { meets } from './conditions.js';
import { candidatesOf } from './evaluate.js';
import { bookOf } from './rule-book.js';

const PROPERTIES = {
  amount: 100,
  plan: 'gold',
  first: true,
  nothing: null,
  tags: ['a'],
  shop: { address: { city: { area: { code: 'S-1' } } } },
};

describe('a condition', () => {
  it.each<[Condition['property'], Condition['op'], unknown, boolean]>([
    ['amount', 'eq', 100, true],
    ['amount', 'eq', '100', false],
    ['amount', 'ne', 99, true],
    ['amount', 'ne', 100, false],
    ['amount', 'gt', 99, true],
    ['amount', 'gt', 100, false],
    ['amount', 'gte', 100, true],
    ['amount', 'lt', 100, false],
    ['amount', 'lt', 101, true],
    ['amount', 'lte', 100, true],
    ['amount', 'lte', 99, false],
    ['amount', 'in', [1, 100], true],
    ['amount', 'in', ['100'], false],
    ['plan', 'eq', 'gold', true],
    ['plan', 'eq', 'Gold', false],
    ['plan', 'prefix', 'go', true],
    ['plan', 'prefix', 'old', false],
    ['plan', 'gt', 'apple', true],
    ['plan', 'in', ['silver', 'gold'], true],
    ['first', 'eq', true, true],
    ['first', 'ne', false, true],
    ['shop.address.city.area.code', 'eq', 'S-1', true],
    ['shop.address.city.area.code.length', 'exists', true, false],
    ['amount', 'exists', true, true],
    ['amount', 'exists', false, false],
    ['missing', 'exists', false, true],
    ['nothing', 'exists', true, false],
    ['constructor', 'exists', true, false],
    ['tags.0', 'exists', true, false],
    // What is missing or of another type meets none, not even `ne`.
    ['missing', 'ne', 1, false],
    ['missing', 'eq', 1, false],
    ['missing', 'lt', 1, false],
    ['missing', 'in', [1], false],
    ['missing', 'prefix', 'a', false],
    ['plan', 'ne', 1, false],
    ['plan', 'gt', 1, false],
    ['amount', 'prefix', '1', false],
    ['nothing', 'ne', 1, false],
    ['tags', 'eq', 'a', false],
    ['tags', 'ne', 'b', false],
  ])('%s %s %j: %s', (property, op, value, expected) => {
    expect(meets({ property, op, value }, PROPERTIES)).toBe(expected);
  });
});

describe('a rule', () => {
  const FROM = Date.parse('2026-03-01T00:00:00.000Z');
  const content = (overrides: Partial<RuleContent> = {}): RuleContent => ({
    event: 'purchase_completed',
    conditions: [],
    formula: { type: 'fixed', points: 10 },
    maxPerEvent: null,
    maxPerContact: null,
    validFrom: new Date(FROM),
    validTo: null,
    expiresAfterDays: null,
    enabled: true,
    ...overrides,
  });
  const given = (
    overrides: Partial<RuleContent>,
    event: Parameters<typeof aRecordedEvent>[0] = {},
  ): number[] => {
    const periods = [{ from: FROM, version: 1, deleted: false, content: content(overrides) }];
    const book = bookOf([{ ruleId: 'rule', periods }]);
    return candidatesOf(book, aRecordedEvent(event), 'correlation').map(({ points }) => points);
  };

  it.each([
    ['2026-02-28T23:59:59.999Z', []],
    ['2026-03-01T00:00:00.000Z', [10]],
    ['2026-03-31T23:59:59.999Z', [10]],
    ['2026-04-01T00:00:00.000Z', []],
  ])('is valid from its beginning until before its end: %s', (occurred_at, points) => {
    expect(given({ validTo: new Date('2026-04-01T00:00:00.000Z') }, { occurred_at })).toEqual(points);
  });

  it('needs all of its conditions', () => {
    const conditions: Condition[] = [
      { property: 'amount', op: 'gte', value: 1 },
      { property: 'channel', op: 'eq', value: 'web' },
    ];
    const event = (properties: Record<string, unknown>) => ({ properties });
    expect(given({ conditions }, event({ amount: 1, channel: 'web' }))).toEqual([10]);
    expect(given({ conditions }, event({ amount: 1, channel: 'shop' }))).toEqual([]);
    expect(given({ conditions }, event({ amount: 1 }))).toEqual([]);
  });

  it('gives at most what one event may bring', () => {
    expect(given({ maxPerEvent: 4 })).toEqual([4]);
    const formula = {
      type: 'per_amount',
      amount_property: 'amount',
      currency_property: 'currency',
      currency: 'CLP',
      per: 1,
      points: 1_000_000,
      rounding: 'floor',
    } as const;
    const properties = { amount: Number.MAX_SAFE_INTEGER, currency: 'CLP' };
    expect(given({ formula, maxPerEvent: 7 }, { properties })).toEqual([7]);
  });

  it('was not there for what was received before it, nor while disabled', () => {
    expect(given({}, { received_at: new Date(FROM - 1).toISOString() })).toEqual([]);
    expect(given({ enabled: false })).toEqual([]);
  });
});
