import { evaluate, type Facts, type Said } from './evaluate.js';
import { parseRule } from './parse-rule.js';

const NOW = Date.parse('2026-06-15T12:00:00.000Z');
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

interface Known {
  attributes?: Record<string, unknown>;
  /** When matching events happened, relative to now. */
  at?: number[];
  said?: Said[];
}

/** What a rule says of a contact of whom this is known. */
function verdict(rule: object, { attributes = {}, at = [], said = [] }: Known = {}) {
  const times = at.map((offset) => NOW + offset);
  const facts: Facts = {
    attribute: (path) => attributes[path.replace('attributes.', '')],
    said: () => said,
    occurrences: () => ({
      past: times.filter((time) => time <= NOW).sort((one, other) => other - one),
      future: times.filter((time) => time > NOW).sort((one, other) => one - other),
    }),
  };
  const { holds, next } = evaluate(parseRule(rule), facts, NOW);
  return { holds, next: next === Infinity ? null : next - NOW };
}

const attribute = (op: string, value: unknown) => ({ attribute: 'attributes.a', op, value });
const of = (a: unknown): Known => ({ attributes: { a } });
const yes = { holds: true, next: null };
const no = { holds: false, next: null };

describe('attributes', () => {
  it.each<[string, unknown, unknown, boolean]>([
    ['eq', 'pro', 'pro', true],
    ['eq', '1', 1, false],
    ['ne', 'pro', 'free', true],
    ['ne', 'pro', 'pro', false],
    ['ne', 'pro', 7, true],
    ['gt', 5, 6, true],
    ['gt', 5, 5, false],
    ['gt', 5, '6', false],
    ['gte', 5, 5, true],
    ['lt', 5, 4, true],
    ['lte', 5, 6, false],
    ['gt', 'b', 'c', true],
    ['lt', '2026-01-02', '2026-01-01', true],
    ['gt', '2026-01-01T00:00:00+02:00', '2025-12-31T23:00:00Z', true],
    ['gt', '2026-01-01', 'soon', false],
    ['in', ['a', 2], 2, true],
    ['in', ['a', 2], '2', false],
    ['contains', 'ro', 'pro', true],
    ['contains', 'red', ['red', 'blue'], true],
    ['contains', 'gre', ['green'], false],
    ['contains', 1, 'a1', false],
    ['prefix', 'pr', 'pro', true],
    ['prefix', 'ro', 'pro', false],
    ['exists', true, false, true],
    ['exists', false, 'x', false],
  ])('%s %j of %j is %j', (op, value, actual, holds) => {
    expect(verdict(attribute(op, value), of(actual))).toEqual({ holds, next: null });
  });

  it('an absent value is in no comparison, `ne` included; null is absent', () => {
    const tests = [
      attribute('eq', 'a'),
      attribute('ne', 'a'),
      attribute('lt', 1),
      attribute('in', ['a']),
      attribute('contains', 'a'),
      attribute('within_last', 'P1D'),
      attribute('exists', true),
    ];
    for (const known of [{}, of(null)]) {
      expect(tests.map((test) => verdict(test, known))).toEqual(tests.map(() => no));
      expect(verdict(attribute('exists', false), known)).toEqual(yes);
    }
  });

  it('within_last holds from the instant itself until the window has passed it', () => {
    const last = attribute('within_last', 'P1D');
    const at = (offset: number) => of(new Date(NOW + offset).toISOString());
    expect(verdict(last, at(0))).toEqual({ holds: true, next: DAY });
    expect(verdict(last, at(1 - DAY))).toEqual({ holds: true, next: 1 });
    expect(verdict(last, at(-DAY))).toEqual(no);
    expect(verdict(last, at(5))).toEqual({ holds: false, next: 5 });
    expect(verdict(last, of('yesterday'))).toEqual(no);
  });
});

describe('events', () => {
  const paid = (op: string, value: number, within?: string) => ({
    event: 'invoice_paid',
    count: { op, value },
    ...(within ? { within } : {}),
  });

  it('at least one, ever, unless said otherwise', () => {
    expect(verdict({ event: 'invoice_paid' })).toEqual(no);
    expect(verdict({ event: 'invoice_paid' }, { at: [-4_000 * DAY] })).toEqual(yes);
  });

  it('now − within < occurred_at ≤ now', () => {
    const one = paid('gte', 1, 'P1D');
    expect(verdict(one, { at: [0] })).toEqual({ holds: true, next: DAY });
    expect(verdict(one, { at: [1 - DAY] })).toEqual({ holds: true, next: 1 });
    expect(verdict(one, { at: [-DAY] })).toEqual(no);
    expect(verdict(one, { at: [1] })).toEqual({ holds: false, next: 1 });
  });

  it.each<[string, number, number, boolean]>([
    ['eq', 0, 0, true],
    ['eq', 0, 1, false],
    ['ne', 2, 2, false],
    ['ne', 2, 3, true],
    ['gt', 1, 2, true],
    ['gte', 2, 1, false],
    ['lt', 1, 0, true],
    ['lte', 0, 1, false],
  ])('count %s %i of %i is %j', (op, wanted, events, holds) => {
    const at = Array.from({ length: events }, (_, index) => -1 - index);
    expect(verdict(paid(op, wanted), { at }).holds).toBe(holds);
  });

  it('turns when the window has left so many behind that the answer is another', () => {
    const at = [-10, -20, -30, -40];
    expect(verdict(paid('gte', 2, 'P1D'), { at })).toEqual({ holds: true, next: DAY - 20 });
    expect(verdict(paid('eq', 0, 'P1D'), { at })).toEqual({ holds: false, next: DAY - 10 });
    expect(verdict(paid('lte', 2, 'P1D'), { at })).toEqual({ holds: false, next: DAY - 30 });
    expect(verdict(paid('eq', 4, 'P1D'), { at })).toEqual({ holds: true, next: DAY - 40 });
    expect(verdict(paid('gte', 5, 'P1D'), { at })).toEqual(no);
  });
});

describe('consents', () => {
  const word = (status: string, occurred: number, channel: string | null = null, expires?: number): Said => ({
    status,
    channel,
    occurredAt: NOW + occurred,
    expiresAt: expires === undefined ? null : NOW + expires,
  });
  const consent = (status: string, channel?: string) => ({
    consent: { purpose: 'marketing', ...(channel ? { channel } : {}) },
    status,
  });

  it('nothing said is no state, not even a denied one', () => {
    for (const status of ['granted', 'denied', 'withdrawn', 'expired'])
      expect(verdict(consent(status, 'email'))).toEqual(no);
  });

  it('the latest word on the channel or on all channels decides; on all channels only what was said of all', () => {
    const said = [word('granted', -30), word('withdrawn', -20, 'email'), word('denied', -10, 'sms')];
    expect(verdict(consent('withdrawn', 'email'), { said })).toEqual(yes);
    expect(verdict(consent('denied', 'sms'), { said })).toEqual(yes);
    expect(verdict(consent('granted', 'push'), { said })).toEqual(yes);
    expect(verdict(consent('granted'), { said })).toEqual(yes);
  });

  it('of several words at one instant the strictest decides, in whichever order they come', () => {
    const said = [word('granted', -10, 'email'), word('withdrawn', -10), word('denied', -10, 'email')];
    for (const words of [said, said.toReversed()])
      expect(verdict(consent('withdrawn', 'email'), { said: words })).toEqual(yes);
  });

  it('a grant expires by itself', () => {
    const said = [word('granted', -10, 'email', 50)];
    expect(verdict(consent('granted', 'email'), { said })).toEqual({ holds: true, next: 50 });
    expect(verdict(consent('expired', 'email'), { said: [word('granted', -10, 'email', 0)] })).toEqual(yes);
  });
});

describe('groups', () => {
  const truth = attribute('exists', false);
  const lie = attribute('exists', true);
  const soon = { attribute: 'attributes.soon', op: 'within_last', value: 'PT1M' };
  const later = { attribute: 'attributes.later', op: 'within_last', value: 'PT1M' };
  const times = {
    attributes: {
      soon: new Date(NOW - 10).toISOString(),
      later: new Date(NOW - 5).toISOString(),
    },
  };

  it('all, any and not mean what they say', () => {
    expect(verdict({ all: [truth, truth] })).toEqual(yes);
    expect(verdict({ all: [truth, lie] })).toEqual(no);
    expect(verdict({ any: [lie, truth] })).toEqual(yes);
    expect(verdict({ any: [lie, lie] })).toEqual(no);
    expect(verdict({ not: lie })).toEqual(yes);
  });

  it('no part can turn the rule before the last of those that decide it does', () => {
    expect(verdict({ all: [soon, later] }, times)).toEqual({ holds: true, next: MINUTE - 10 });
    expect(verdict({ any: [soon, later] }, times)).toEqual({ holds: true, next: MINUTE - 5 });
    expect(verdict({ not: { all: [soon, later] } }, times)).toEqual({ holds: false, next: MINUTE - 10 });
    expect(verdict({ all: [soon, lie] }, times)).toEqual(no);
    expect(verdict({ any: [soon, truth] }, times)).toEqual(yes);
  });
});
