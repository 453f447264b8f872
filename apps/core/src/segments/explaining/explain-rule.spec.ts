import type { Permission } from '@customer-platform/permissions';
import type { Facts } from '../../vocabulary/rules/evaluate.js';
import { parseRule } from '../../vocabulary/rules/parse-rule.js';
import { explainRule, type Sight } from './explain-rule.js';

const NOW = Date.parse('2026-06-15T12:00:00.000Z');
const MINUTE = 60_000;
const seeing = (...permissions: readonly Permission[]): Sight => ({
  can: (permission) => permissions.includes(permission),
});
const ALL = seeing('core.contacts.read', 'core.consents.read', 'core.events.read');

const FACTS: Facts = {
  attribute: (path) => (path === 'attributes.plan' ? 'pro' : undefined),
  said: () => [{ channel: 'email', status: 'granted', occurredAt: NOW - MINUTE, expiresAt: null }],
  occurrences: () => ({ past: [NOW - 30_000, NOW - 2 * MINUTE], future: [NOW + 1] }),
};

const plan = { attribute: 'attributes.plan', op: 'eq', value: 'pro' };
const absent = { attribute: 'attributes.toString', op: 'exists', value: true };
const paid = { event: 'paid', count: { op: 'gte', value: 2 }, within: 'PT1M' };
const ever = { event: 'paid' };
const consent = { consent: { purpose: 'marketing', channel: 'email' }, status: 'denied' };
const rule = { all: [plan, { any: [absent, { not: paid }] }, ever, { not: consent }] };

const explain = (written: object, sight = ALL, facts = FACTS) =>
  explainRule(written, parseRule(written), facts, NOW, sight);

describe('an explained rule', () => {
  it('carries at each node its result, and at each leaf what it was compared with', () => {
    const until = new Date(NOW).toISOString();
    const after = new Date(NOW - MINUTE).toISOString();
    expect(explain(rule)).toEqual({
      result: true,
      all: [
        { ...plan, result: true, actual: { value: 'pro' } },
        {
          result: true,
          any: [
            { ...absent, result: false, actual: { value: null } },
            {
              result: true,
              not: { ...paid, result: false, actual: { count: 1, exact: true, after, until } },
            },
          ],
        },
        { ...ever, result: true, actual: { count: 2, exact: true, after: null, until } },
        { result: true, not: { ...consent, result: false, actual: { value: 'granted' } } },
      ],
    });
  });

  it('says of a count that it is exact unless there may be more in its window', () => {
    const knownAfter = (allAfter: number) => ({
      ...FACTS,
      occurrences: () => ({ past: [NOW - 30_000], future: [], allAfter }),
    });
    const exact = (leaf: object, allAfter: number) => explain(leaf, ALL, knownAfter(allAfter))['actual'];
    expect(exact(paid, NOW - MINUTE)).toMatchObject({ count: 1, exact: true });
    expect(exact(paid, NOW - MINUTE + 1)).toMatchObject({ count: 1, exact: false });
    expect(exact(ever, NOW - MINUTE)).toMatchObject({ count: 1, exact: false });
  });

  it('keeps each kind of value from those who may not see it', () => {
    const seen = (...permissions: readonly Permission[]) =>
      [plan, consent, ever].map((leaf) => {
        const { result, actual } = explain(leaf, seeing(...permissions));
        return [result, actual !== null];
      });
    expect(seen()).toEqual([
      [true, false],
      [false, false],
      [true, false],
    ]);
    expect(seen('core.contacts.read')).toEqual([
      [true, true],
      [false, false],
      [true, false],
    ]);
    expect(seen('core.consents.read')).toEqual([
      [true, false],
      [false, true],
      [true, false],
    ]);
    expect(seen('core.events.read')).toEqual([
      [true, false],
      [false, false],
      [true, true],
    ]);
  });
});
