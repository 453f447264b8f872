import { Problem } from '@customer-platform/problem-json';
import { parseNewRule, parseRule } from './parse-rule.js';
import { leavesOf, type EventNode } from './rule.js';

/** The pointers of what is wrong with a rule; every error carries the one code. */
function pointersOf(rule: unknown, parse = parseNewRule): string[] {
  try {
    parse(rule);
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    const { code, errors = [] } = error as Problem;
    expect(code).toBe('invalid_segment_rule');
    expect(errors.every((each) => each.code === 'invalid_segment_rule')).toBe(true);
    return errors.map(({ pointer = '' }) => pointer);
  }
  return [];
}

const plan = (op: string, value?: unknown) => ({ attribute: 'attributes.plan', op, value });
const paid = (rest: object = {}) => ({ event: 'invoice_paid', ...rest });
const nested = (levels: number): object => (levels === 1 ? plan('eq', 'pro') : { not: nested(levels - 1) });

describe('a rule', () => {
  it.each([
    ['a leaf', plan('eq', 'pro')],
    ['groups in groups', { all: [{ any: [plan('ne', 1), paid()] }, { not: plan('exists', false) }] }],
    [
      'every part of an event',
      paid({
        where: [{ property: 'amount', op: 'gte', value: 1000 }],
        count: { op: 'eq', value: 0 },
        within: 'P30D',
      }),
    ],
    ['a consent on one channel', { consent: { purpose: 'marketing', channel: 'email' }, status: 'granted' }],
    ['a consent on all channels', { consent: { purpose: 'custom.raffles' }, status: 'expired' }],
    ['every operator', { all: everyOperator() }],
    ['8 levels', nested(8)],
    ['50 leaves', { any: Array.from({ length: 50 }, () => paid()) }],
    ['the shortest window', paid({ within: 'PT1M' })],
    ['the longest window', paid({ within: 'P3650D' })],
  ])('may be %s', (_, rule) => {
    expect(pointersOf(rule)).toEqual([]);
  });

  it.each<[string, unknown, string[]]>([
    ['no object', 'plan', ['/rule']],
    ['nothing known', { some: [] }, ['/rule']],
    ['an empty group', { all: [] }, ['/rule/all']],
    ['a group and more', { all: [paid()], any: [paid()] }, ['/rule/any']],
    ['9 levels', nested(9), ['/rule/not/not/not/not/not/not/not/not']],
    [
      '51 leaves',
      {
        all: [
          { any: Array.from({ length: 26 }, () => paid()) },
          { any: Array.from({ length: 25 }, () => paid()) },
        ],
      },
      ['/rule'],
    ],
    ['51 leaves in one group', { any: Array.from({ length: 51 }, () => paid()) }, ['/rule/any']],
    ['a misspelt member deep down', { all: [paid(), { not: paid({ wher: [] }) }] }, ['/rule/all/1/not/wher']],
    ['an unknown field', { attribute: 'national_id', op: 'exists', value: true }, ['/rule/attribute']],
    [
      'attributes without a key',
      { attribute: 'attributes.', op: 'exists', value: true },
      ['/rule/attribute'],
    ],
    ['an unknown operator', plan('like', 'x'), ['/rule/op']],
    ['no value', plan('eq'), ['/rule/value']],
    ['null as value', plan('ne', null), ['/rule/value']],
    ['a boolean to order by', plan('gt', true), ['/rule/value']],
    ['no list for in', plan('in', 'pro'), ['/rule/value']],
    ['a list in a list', plan('in', [['pro']]), ['/rule/value']],
    ['a number as prefix', plan('prefix', 1), ['/rule/value']],
    ['exists without true or false', plan('exists', 'yes'), ['/rule/value']],
    ['a month, which has no length', plan('within_last', 'P1M'), ['/rule/value']],
    ['a window below a minute', paid({ within: 'PT59S' }), ['/rule/within']],
    ['a window above 3,650 days', paid({ within: 'P3650DT1S' }), ['/rule/within']],
    ['a window that is none', paid({ within: 'P' }), ['/rule/within']],
    ['an empty time in a window', paid({ within: 'P1DT' }), ['/rule/within']],
    ['a negative count', paid({ count: { op: 'gt', value: -1 } }), ['/rule/count/value']],
    ['a count of a half', paid({ count: { op: 'gt', value: 0.5 } }), ['/rule/count/value']],
    ['a count that contains', paid({ count: { op: 'contains', value: 1 } }), ['/rule/count/op']],
    ['an event without a name', { event: '' }, ['/rule/event']],
    ['a condition without property', paid({ where: [{ op: 'eq', value: 1 }] }), ['/rule/where/0/property']],
    ['an unknown purpose', { consent: { purpose: 'spam' }, status: 'granted' }, ['/rule/consent/purpose']],
    [
      'an unknown channel and status',
      { consent: { purpose: 'marketing', channel: 'fax' }, status: 'maybe' },
      ['/rule/status', '/rule/consent/channel'],
    ],
    [
      'several mistakes',
      { all: [plan('like', 1), paid({ within: 3 })] },
      ['/rule/all/0/op', '/rule/all/1/within'],
    ],
  ])('may not be %s', (_, rule, pointers) => {
    expect(pointersOf(rule)).toEqual(pointers);
  });

  const where = (op: string, value: unknown) => paid({ where: [{ property: 'plan', op, value }] });
  const list = (length: number) => Array.from({ length: 100 }, () => 'x'.repeat(length));
  it.each<[string, string, unknown, unknown]>([
    ['200 characters to look for', 'contains', '😀'.repeat(200), '😀'.repeat(201)],
    ['200 characters to begin with', 'prefix', 'x'.repeat(200), 'x'.repeat(201)],
    ['1,000 characters to equal', 'eq', 'x'.repeat(1_000), 'x'.repeat(1_001)],
    ['1,000 characters to differ from', 'ne', 'x'.repeat(1_000), 'x'.repeat(1_001)],
    ['1,000 characters to come after', 'gt', 'x'.repeat(1_000), 'x'.repeat(1_001)],
    ['1,000 characters of one in a list', 'in', [1, 'x'.repeat(1_000)], [1, 'x'.repeat(1_001)]],
  ])('may have %s, not one more unless it is stored', (_, op, most, more) => {
    expect(pointersOf({ all: [plan(op, most), where(op, most)] })).toEqual([]);
    const rule = { all: [plan(op, more), where(op, more)] };
    expect(pointersOf(rule)).toEqual(['/rule/all/0/value', '/rule/all/1/where/0/value']);
    expect(pointersOf(rule, parseRule)).toEqual([]);
  });

  it('may count to 1,000, not to one more unless it is stored', () => {
    const counting = (value: number) => paid({ count: { op: 'gte', value } });
    expect(pointersOf(counting(1_000))).toEqual([]);
    for (const value of [1_001, Number.MAX_SAFE_INTEGER])
      expect(pointersOf(counting(value))).toEqual(['/rule/count/value']);
    expect(pointersOf(counting(1_001), parseRule)).toEqual([]);
  });

  it('may have 32 KiB as JSON, not one byte more unless it is stored', () => {
    const room = 32 * 1024 - JSON.stringify({ all: [plan('in', list(300)), plan('eq', '')] }).length;
    const filled = Math.floor((room - 900) / 100);
    const wide = (more: number) => ({
      all: [plan('in', list(300 + filled)), plan('eq', 'x'.repeat(room - 100 * filled + more))],
    });
    expect(JSON.stringify(wide(0))).toHaveLength(32 * 1024);
    expect(pointersOf(wide(0))).toEqual([]);
    expect(pointersOf(wide(1))).toEqual(['/rule']);
    expect(pointersOf(wide(1), parseRule)).toEqual([]);
  });

  it('matches the same events as another one whatever it counts and in whichever order it asks', () => {
    const amount = { property: 'amount', op: 'gte', value: 1000 };
    const currency = { property: 'currency', op: 'eq', value: 'CLP' };
    const same = [
      paid({ where: [amount, currency], within: 'P30D' }),
      paid({ where: [currency, amount], count: { op: 'gte', value: 3 } }),
      paid({ where: [currency, amount, currency] }),
    ];
    expect(new Set(same.map(fingerprintOf)).size).toBe(1);
    const other = [paid(), paid({ where: [amount] }), { event: 'invoice_sent', where: [amount, currency] }];
    expect(new Set([...same, ...other].map(fingerprintOf)).size).toBe(4);
  });
});

function fingerprintOf(rule: object): string {
  return (leavesOf(parseRule(rule))[0] as EventNode).fingerprint;
}

function everyOperator(): object[] {
  const values = { eq: 'a', ne: true, gt: 1, gte: '2026-01-01', lt: 1.5, lte: 'b', in: ['a', 1, false] };
  const others = { contains: 'a', prefix: 'a', exists: true, within_last: 'P1W' };
  return Object.entries({ ...values, ...others }).map(([op, value]) => plan(op, value));
}
