import { coverOf } from './cover.js';
import { parseRule } from './parse-rule.js';

const paid = { event: 'paid' };
const seen = { event: 'seen' };
const never = { event: 'seen', count: { op: 'eq', value: 0 } };
const plan = { attribute: 'attributes.plan', op: 'eq', value: 'pro' };

describe('the events without which a rule holds of nobody', () => {
  it.each<[object, string[] | undefined]>([
    [paid, ['paid']],
    [{ event: 'paid', count: { op: 'lt', value: 3 } }, undefined],
    [{ event: 'paid', count: { op: 'ne', value: 0 } }, ['paid']],
    [never, undefined],
    [plan, undefined],
    [{ not: paid }, undefined],
    [{ not: never }, undefined],
    [{ all: [plan, paid] }, ['paid']],
    [{ all: [plan, never] }, undefined],
    [{ any: [paid, seen] }, ['paid', 'seen']],
    [{ any: [paid, plan] }, undefined],
    [{ all: [{ any: [paid, seen] }, { all: [seen, plan] }] }, ['seen']],
  ])('of %j are %j', (rule, events) => {
    expect(coverOf(parseRule(rule))?.map(({ event }) => event)).toEqual(events);
  });
});
