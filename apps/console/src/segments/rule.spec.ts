import fc from 'fast-check';
import { checkRule } from './check-rule.ts';
import { inOneUnit, isWindow, written } from './duration.ts';
import { add, depthOf, leavesIn, lift, move, nest, remove } from './edit-rule.ts';
import {
  newAttribute,
  newConsent,
  newEvent,
  ordersTexts,
  readAs,
  shown,
  typed,
  withOp,
} from './edit-test.ts';
import {
  CONSENT_CHANNELS,
  CONSENT_STATES,
  RULE_FIELDS,
  COUNT_OPS,
  countedKeys,
  OPS,
  PURPOSES,
  testOf,
  toBuilder,
  toRule,
  type Draft,
  type Node,
  type Op,
} from './rule.ts';

const build = (rule: unknown): Node => toBuilder(rule, countedKeys());
const faultsOf = (rule: unknown): string[] =>
  checkRule(build(rule)).map(({ pointer, fault }) => `${pointer} ${fault}`);

const plan = (op: string, value: unknown) => ({ attribute: 'attributes.plan', op, value });
const paid = (rest: object = {}) => ({ event: 'invoice_paid', ...rest });
const nested = (levels: number): object => (levels === 1 ? plan('eq', 'pro') : { not: nested(levels - 1) });
const many = (count: number) => Array.from({ length: count }, () => paid());

const text = fc.string({ minLength: 1, maxLength: 12 });
const scalar = fc.oneof(
  text,
  fc.boolean(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(noZeroSign),
);
const window = fc
  .tuple(fc.integer({ min: 1, max: 500 }), fc.constantFrom('PT#M', 'PT#H', 'P#D', 'P#W', 'P1DT#H'))
  .map(([amount, form]) => form.replace('#', String(amount)));

/** JSON writes both zeros as 0. */
function noZeroSign(number: number): number {
  return number === 0 ? 0 : number;
}

const test = fc.constantFrom(...OPS).chain((op) =>
  fc.record({
    op: fc.constant(op),
    value:
      op === 'in'
        ? fc.array(scalar, { minLength: 1, maxLength: 5 })
        : op === 'exists'
          ? fc.boolean()
          : op === 'within_last'
            ? window
            : op === 'prefix'
              ? text
              : ['gt', 'gte', 'lt', 'lte'].includes(op)
                ? fc.oneof(text, fc.integer())
                : scalar,
  }),
);

const path = fc.oneof(
  fc.constantFrom(...RULE_FIELDS),
  fc.stringMatching(/^[a-z_]{1,8}$/).map((key) => `attributes.${key}`),
);
const attribute = fc.tuple(path, test).map(([at, asked]) => ({ attribute: at, ...asked }));
const consent = fc.record({
  consent: fc.record(
    {
      purpose: fc.oneof(fc.constantFrom(...PURPOSES), fc.constant('custom.raffles')),
      channel: fc.constantFrom(null, ...CONSENT_CHANNELS),
    },
    { requiredKeys: ['purpose'] },
  ),
  status: fc.constantFrom(...CONSENT_STATES),
});
const event = fc.record(
  {
    event: text,
    where: fc.array(
      fc.tuple(text, test).map(([property, asked]) => ({ property, ...asked })),
      { maxLength: 3 },
    ),
    count: fc.record({ op: fc.constantFrom(...COUNT_OPS), value: fc.nat({ max: 1_000 }) }),
    within: window,
  },
  { requiredKeys: ['event'] },
);
const rule = fc.letrec((tie) => ({
  rule: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    attribute,
    consent,
    event,
    fc.record({ not: tie('rule') }),
    fc.record({ all: fc.array(tie('rule'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('rule'), { minLength: 1, maxLength: 3 }) }),
  ),
})).rule;

describe('a rule in the builder', () => {
  it('comes out as it went in, and nothing is wrong with it', () => {
    fc.assert(
      fc.property(rule, (given) => {
        const node = build(given);
        expect(toRule(node)).toEqual(given);
        expect(JSON.stringify(node)).not.toContain('"unknown"');
        const large = checkRule(node).filter(({ pointer }) => pointer !== '/rule');
        expect(large).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('comes out as it went in whatever it is: a newer platform may know more', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.string(), (given, name) => {
        const clean: unknown = JSON.parse(JSON.stringify(given));
        expect(toRule(build(clean))).toEqual(clean);
        const mixed = { all: [{ [name]: clean }, plan('eq', clean), paid({ where: clean, count: clean })] };
        expect(toRule(build(mixed))).toEqual(mixed);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps what the parts it knows say beside', () => {
    const given = { all: [{ ...plan('eq', 'pro'), since: 'P1D' }, { none: [paid()] }], note: 1 };
    expect(build(given).kind).toBe('unknown');
    expect(build({ all: given.all })).toMatchObject({ nodes: [{ kind: 'unknown' }, { kind: 'unknown' }] });
  });
});

describe('what is wrong with a rule', () => {
  it.each<[string, unknown, string[]]>([
    ['an empty group', { all: [] }, ['/rule/all emptyGroup']],
    ['8 levels', nested(8), []],
    ['9 levels', nested(9), ['/rule tooDeep']],
    ['50 conditions', { any: many(50) }, []],
    ['51 conditions', { all: [{ any: many(26) }, { any: many(25) }] }, ['/rule tooManyLeaves']],
    [
      'an unknown field',
      { attribute: 'national_id', op: 'exists', value: true },
      ['/rule/attribute attribute'],
    ],
    [
      'attributes without a key',
      { all: [{ ...plan('eq', 1), attribute: 'attributes.' }] },
      ['/rule/all/0/attribute attribute'],
    ],
    ['a boolean to order by', plan('gt', true), ['/rule/value noBoolean']],
    ['a number as prefix', plan('prefix', 1), ['/rule/value text']],
    ['an empty prefix', plan('prefix', ''), ['/rule/value text']],
    ['an empty list', plan('in', []), ['/rule/value list']],
    [
      '101 in a list',
      plan(
        'in',
        Array.from({ length: 101 }, () => 1),
      ),
      ['/rule/value list'],
    ],
    ['a text that exists', plan('exists', 'yes'), ['/rule/value boolean']],
    ['201 characters to look for', plan('contains', '😀'.repeat(201)), ['/rule/value tooLong']],
    ['200 characters to look for', plan('contains', '😀'.repeat(200)), []],
    ['a month', plan('within_last', 'P1M'), ['/rule/value duration']],
    ['59 seconds', paid({ within: 'PT59S' }), ['/rule/within duration']],
    ['3,651 days', paid({ within: 'P3651D' }), ['/rule/within duration']],
    ['a negative count', paid({ count: { op: 'gt', value: -1 } }), ['/rule/count/value count']],
    ['a count that is too high', paid({ count: { op: 'gt', value: 1_001 } }), ['/rule/count/value count']],
    ['a count of none', paid({ count: { op: 'eq', value: 0 } }), []],
    ['an event without a name', { not: { event: '' } }, ['/rule/not/event event']],
    [
      'a condition without property',
      paid({ where: [{ property: '', op: 'eq', value: 1 }] }),
      ['/rule/where/0/property property'],
    ],
    [
      'an unknown purpose and channel',
      { consent: { purpose: 'spam', channel: 'fax' }, status: 'maybe' },
      ['/rule/consent/purpose purpose', '/rule/consent/channel channel', '/rule/status status'],
    ],
    [
      '32 KiB',
      plan(
        'in',
        Array.from({ length: 100 }, () => 'x'.repeat(330)),
      ),
      ['/rule tooLarge'],
    ],
  ])('is said of %s', (_, given, faults) => {
    expect(faultsOf(given)).toEqual(faults);
  });

  it('is said of a number that is not typed yet', () => {
    const leaf: Node = {
      ...newAttribute(countedKeys()),
      path: 'email',
      drafts: [{ as: 'number', text: '1e' }],
    };
    expect(checkRule(leaf)).toEqual([{ pointer: '/rule/value', fault: 'number' }]);
  });
});

/** A value as it stands when a text has been typed letter by letter. */
function typing(text: string, op: Op, locale = 'en'): Draft {
  const nothing: Draft = { as: 'text', text: '' };
  return [...text].reduce((so, _, at) => typed(so, text.slice(0, at + 1), op, locale), nothing);
}

describe('editing a rule', () => {
  const group = { all: [{ event: 'a' }, { any: [{ event: 'b' }, { event: 'c' }] }, { not: { event: 'd' } }] };
  const root = build(group);
  const keyOf = (name: string): string => {
    const found = (node: Node): string | undefined =>
      node.kind === 'event' && node.event === name
        ? node.key
        : node.kind === 'not'
          ? found(node.node)
          : 'nodes' in node
            ? node.nodes.map(found).find((key) => key !== undefined)
            : undefined;
    return found(root) ?? '';
  };
  const written = (node: Node | undefined): unknown => node && toRule(node);
  const [a, b, c, d] = [{ event: 'a' }, { event: 'b' }, { event: 'c' }, { event: 'd' }];

  it('adds, and counts levels and conditions', () => {
    const more = add(root, root.key, newConsent(countedKeys()));
    expect([depthOf(more), leavesIn(more)]).toEqual([3, 5]);
    expect([depthOf(root), leavesIn(root)]).toEqual([3, 4]);
  });

  it('moves among neighbours, and not beyond them', () => {
    expect(written(move(root, keyOf('c'), -1))).toEqual({ all: [a, { any: [c, b] }, { not: d }] });
    expect(move(root, keyOf('c'), 1)).toBe(root);
    expect(move(root, root.key, 1)).toBe(root);
  });

  it('nests and lifts back', () => {
    const inner = nest(root, keyOf('b'), 'not', () => 'new');
    expect(written(inner)).toEqual({ all: [a, { any: [{ not: b }, c] }, { not: d }] });
    expect(written(lift(inner, keyOf('b')))).toEqual(group);
  });

  it('lifts behind the group, or in the place of what held it alone', () => {
    expect(written(lift(root, keyOf('b')))).toEqual({ all: [a, { any: [c] }, b, { not: d }] });
    expect(written(lift(root, keyOf('d')))).toEqual({ all: [a, { any: [b, c] }, d] });
    expect(lift(root, keyOf('a'))).toBeUndefined();
    const negated = build({ not: { all: [{ event: 'a' }, { event: 'b' }] } });
    expect(lift(negated, 'n3')).toBeUndefined();
  });

  it('takes a negation away with what it negates', () => {
    expect(written(remove(root, keyOf('d')))).toEqual({ all: [a, { any: [b, c] }] });
    expect(remove(root, root.key)).toBeUndefined();
  });

  it('keeps what was typed as far as another operator can be asked with it', () => {
    const number = { op: 'eq' as const, drafts: [{ as: 'number' as const, text: '5' }] };
    expect(withOp(number, 'in').drafts).toEqual(number.drafts);
    expect(withOp(number, 'prefix').drafts).toEqual([{ as: 'text', text: '5' }]);
    expect(withOp(withOp(number, 'exists'), 'gt').drafts).toEqual([{ as: 'text', text: '' }]);
    expect(withOp(number, 'within_last').drafts).toEqual([{ as: 'text', text: 'P30D' }]);
    for (const op of OPS) {
      const node: Node = { ...newAttribute(countedKeys()), path: 'email', ...withOp(number, op) };
      expect(checkRule(node)).toEqual([]);
    }
  });

  it('reads what is typed as the number or text that it looks like, until a person chooses', () => {
    expect(typing('12990', 'gte')).toEqual({ as: 'number', text: '12990' });
    expect(typing('-1.5', 'eq')).toEqual({ as: 'number', text: '-1.5' });
    for (const text of [
      '007',
      '+56911111111',
      '1e3',
      '12 990',
      'Infinity',
      'NaN',
      'pro',
      '-',
      '12.',
      '007.500',
    ])
      expect(typing(text, 'eq')).toEqual({ as: 'text', text });
    expect(typing('12', 'prefix')).toEqual({ as: 'text', text: '12' });
    const chosen = readAs({ as: 'number', text: '12' }, 'text', 'en');
    expect(typed(chosen, '129', 'eq', 'en')).toEqual({ as: 'text', text: '129' });
    expect(typed({ as: 'number', text: '5' }, '', 'eq', 'en')).toEqual({ as: 'number', text: '' });
  });

  it('reads a number by the language in which it is typed, and keeps what was typed', () => {
    const asked = (text: string, locale: string): unknown =>
      testOf({ op: 'gte', drafts: [typing(text, 'gte', locale)] });
    expect(asked('10.000', 'es-CL')).toEqual({ op: 'gte', value: 10_000 });
    expect(asked('10.000', 'en')).toEqual({ op: 'gte', value: 10 });
    expect(asked('10,000', 'en')).toEqual({ op: 'gte', value: 10_000 });
    expect(asked('12,5', 'es-CL')).toEqual({ op: 'gte', value: 12.5 });
    const ten = typing('10.000', 'gte', 'es-CL');
    expect(ten).toEqual({ as: 'number', text: '10000', typed: '10.000' });
    expect(['es-CL', 'en'].map((locale) => shown(ten, locale))).toEqual(['10.000', '10.000']);
    expect(readAs(ten, 'text', 'es-CL')).toEqual({ as: 'text', text: '10.000' });
    expect(readAs({ as: 'text', text: '10.000' }, 'number', 'es-CL')).toEqual(ten);
    expect(withOp({ op: 'gte', drafts: [ten] }, 'prefix').drafts).toEqual([{ as: 'text', text: '10.000' }]);
    const stored = { as: 'number' as const, text: '12.5' };
    expect([shown(stored, 'es-CL'), shown(stored, 'en')]).toEqual(['12,5', '12.5']);
    expect(typed(stored, '12,50', 'eq', 'es-CL')).toEqual({ as: 'number', text: '12.5', typed: '12,50' });
  });

  it('warns where texts are put in order that are no dates', () => {
    const warns = (op: Op, draft: Draft): boolean => ordersTexts({ op, drafts: [draft] });
    expect(warns('gt', { as: 'text', text: '10000' })).toBe(true);
    expect(warns('lte', { as: 'text', text: 'pro' })).toBe(true);
    expect(warns('lte', { as: 'text', text: '2026-99-99' })).toBe(true);
    for (const text of ['', '2026-01-31', '2026-01-31T10:00:00Z'])
      expect(warns('lt', { as: 'text', text })).toBe(false);
    expect(warns('eq', { as: 'text', text: 'pro' })).toBe(false);
    expect(warns('gt', { as: 'number', text: '5' })).toBe(false);
  });

  it('begins with a condition that asks for what only a person can say', () => {
    expect(checkRule(newEvent(countedKeys()))).toEqual([{ pointer: '/rule/event', fault: 'event' }]);
    expect(checkRule(newConsent(countedKeys()))).toEqual([]);
  });
});

describe('a window', () => {
  it.each([
    ['P30D', { amount: '30', unit: 'days' }],
    ['PT5M', { amount: '5', unit: 'minutes' }],
    ['P2W', { amount: '2', unit: 'weeks' }],
    ['P1.5D', { amount: '1.5', unit: 'days' }],
    ['PT-1H', { amount: '-1', unit: 'hours' }],
    ['PNaND', { amount: 'NaN', unit: 'days' }],
    ['P1DT2H', undefined],
    ['soon', undefined],
  ])('%s is said in one unit where it can be', (text, said) => {
    expect(inOneUnit(text)).toEqual(said);
    if (said) expect(written(said.amount, said.unit as 'days')).toBe(text);
  });

  it('lasts a minute to 3,650 days', () => {
    expect(['P1.5D', 'PT-1H', 'PNaND'].map(isWindow)).toEqual([false, false, false]);
    expect(['PT1M', 'P3650D', 'PT59S', 'P3650DT1S', 'P'].map(isWindow)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
