import { bodyOf, draftOf, isWhole, NEW_RULE, type Rule } from './rule-draft.ts';

const RULE: Rule = {
  id: '01a2074e-df76-74aa-8a69-2190be04d175',
  name: 'A point per 1,000 CLP',
  event: 'purchase_completed',
  conditions: [
    { property: 'store.id', op: 'in', value: ['a', 5, true] },
    { property: 'coupon', op: 'exists', value: false },
  ],
  formula: {
    type: 'per_amount',
    amount_property: 'total',
    currency_property: 'money',
    currency: 'CLP',
    per: 1_000,
    points: 2,
    rounding: 'half_up',
  },
  max_per_event: 50,
  max_per_contact: { points: 100, period: 'month', timezone: 'America/Santiago' },
  valid_from: '2026-01-01T03:00:00.000Z',
  valid_to: null,
  expires_after_days: 365,
  enabled: true,
  version: 3,
  created_at: '2026-01-01T03:00:00.000Z',
  updated_at: '2026-01-01T03:00:00.000Z',
  deleted_at: null,
};

describe('a rule in its form', () => {
  it('is written as it was read', () => {
    const { id: _, version, created_at, updated_at, deleted_at, ...content } = RULE;
    expect(bodyOf(draftOf(RULE))).toEqual(content);
    expect([version, created_at, updated_at, deleted_at]).toHaveLength(4);
  });

  it('says with null what is no longer asked for', () => {
    const draft = { ...draftOf(RULE), maxPerEvent: '', capPoints: ' ', expiresAfterDays: '' };
    expect(bodyOf(draft)).toMatchObject({
      max_per_event: null,
      max_per_contact: null,
      expires_after_days: null,
    });
  });

  it('has nothing of an amount where the points are fixed', () => {
    expect(bodyOf({ ...NEW_RULE, type: 'fixed', points: '7' }).formula).toEqual({ type: 'fixed', points: 7 });
  });

  it('leaves its beginning to the platform where none is written', () => {
    expect(bodyOf(NEW_RULE)).not.toHaveProperty('valid_from');
  });

  it('begins with its creation where its beginning is cleared', () => {
    const draft = { ...draftOf({ ...RULE, created_at: '2025-12-24T12:00:00.000Z' }), validFrom: '' };
    expect(bodyOf(draft)).toMatchObject({ valid_from: '2025-12-24T12:00:00.000Z' });
  });

  it('is not written where it asks for something that this version does not know', () => {
    const newer = { ...RULE, conditions: [{ property: 'a', op: 'near' as 'eq', value: 1 }] };
    expect([isWhole(RULE), isWhole(newer)]).toEqual([true, false]);
  });
});
