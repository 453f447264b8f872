import { Problem } from '@customer-platform/problem-json';
import { readShape } from '../../vocabulary/shapes/read-shape.js';
import { meets, ruleCondition, type Condition } from './condition.js';

const SCOPE = {
  event: {
    event: 'invoice_paid',
    properties: { amount: 12990, currency: 'CLP', tags: ['vip'], note: null, ok: true },
  },
  contact: { email: 'ana@example.com', attributes: { plan: 'pro', since: '2026-01-01T00:00:00.000Z' } },
};

function leaf(path: string, op: string, value: unknown): Condition {
  return readShape(ruleCondition, { all: [{ path, op, value }] }, '/condition');
}

describe('meets', () => {
  it.each([
    ['event.properties.amount', 'eq', 12990, true],
    ['event.properties.amount', 'eq', '12990', false],
    ['event.properties.amount', 'ne', 1, true],
    ['event.properties.amount', 'gt', 12989, true],
    ['event.properties.amount', 'gt', 12990, false],
    ['event.properties.amount', 'gte', 12990, true],
    ['event.properties.amount', 'lt', 12991, true],
    ['event.properties.amount', 'lte', 12989, false],
    ['event.properties.amount', 'gt', '1', false],
    ['contact.attributes.since', 'lt', '2026-06-01T00:00:00.000Z', true],
    ['event.properties.currency', 'in', ['USD', 'CLP'], true],
    ['event.properties.currency', 'in', ['USD'], false],
    ['event.properties.currency', 'prefix', 'CL', true],
    ['event.properties.tags', 'contains', 'vip', true],
    ['contact.email', 'contains', '@example', true],
    ['event.properties.ok', 'eq', true, true],
    ['event.properties.note', 'exists', false, true],
    ['event.properties.amount', 'exists', true, true],
    ['event.properties.missing', 'exists', true, false],
    ['event.properties.missing', 'ne', 'x', false],
    ['event.properties.note', 'ne', 'x', false],
    ['event.properties.tags', 'ne', 'x', false],
    ['event.properties.amount.toFixed', 'exists', true, false],
    ['contact.attributes.hasOwnProperty', 'exists', true, false],
  ])('%s %s %j is %s', (path, op, value, expected) => {
    expect(meets(leaf(path, op, value), SCOPE)).toBe(expected);
  });

  it('joins members by all and any', () => {
    const yes = { path: 'event.event', op: 'eq', value: 'invoice_paid' };
    const no = { ...yes, op: 'ne' };
    const read = (given: object): Condition => readShape(ruleCondition, given, '');
    expect(meets(read({ all: [yes, no] }), SCOPE)).toBe(false);
    expect(meets(read({ any: [yes, no] }), SCOPE)).toBe(true);
    expect(meets(read({ all: [yes, { any: [no, { all: [yes] }] }] }), SCOPE)).toBe(true);
  });
});

describe('a condition that is not one', () => {
  const good = { path: 'event.event', op: 'eq', value: 'x' };
  it.each([
    [{}, '/condition/all required'],
    [{ all: [] }, '/condition/all too_short'],
    [{ all: [good], any: [good] }, '/condition/any unknown_field'],
    [{ all: [{ ...good, path: 'data.x' }] }, '/condition/all/0/path invalid_format'],
    [{ all: [{ ...good, path: 'event' }] }, '/condition/all/0/path invalid_format'],
    [{ all: [{ ...good, path: 'event.__proto__.x' }] }, '/condition/all/0/path invalid_format'],
    [{ all: [{ ...good, op: 'like' }] }, '/condition/all/0/op invalid_enum'],
    [{ all: [{ ...good, op: 'in' }] }, '/condition/all/0/value wrong_type'],
    [{ all: [{ ...good, op: 'exists' }] }, '/condition/all/0/value wrong_type'],
    [{ all: [{ ...good, value: ['x'] }] }, '/condition/all/0/value wrong_type'],
    [{ any: [{ all: Array(11).fill(good) }, { all: Array(10).fill(good) }] }, '/condition too_long'],
    [{ all: [{ all: [{ all: [{ all: [{ all: [{ all: [good] }] }] }] }] }] }, '/condition too_long'],
  ])('%j', (given, expected) => {
    let refusals: string[] = [];
    try {
      readShape(ruleCondition, given, '/condition');
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refusals = (error.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`);
    }
    expect(refusals).toContain(expected);
  });
});
