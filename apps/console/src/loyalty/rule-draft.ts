import type { BodyOf, ItemOf } from '@customer-platform/client';
import { countedKeys, testDraft, testOf, type Condition, type Op } from '../segments/rule.ts';

export type Rule = ItemOf<'/v1/loyalty/rules'>;
type NewRule = BodyOf<'post', '/v1/loyalty/rules'>;

export const ROUNDINGS = ['floor', 'half_up', 'ceil'] as const;
export const PERIODS = ['day', 'month', 'year', 'lifetime'] as const;
/** What a property can be compared by (loyalty.md §1). */
export const RULE_OPS: readonly Op[] = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'prefix', 'exists'];

/** A rule as its form holds it: figures as they are typed, empty where nothing is asked for. */
export interface RuleDraft {
  name: string;
  event: string;
  conditions: readonly Condition[];
  type: 'fixed' | 'per_amount';
  points: string;
  amountProperty: string;
  currencyProperty: string;
  currency: string;
  per: string;
  rounding: (typeof ROUNDINGS)[number];
  maxPerEvent: string;
  capPoints: string;
  capPeriod: (typeof PERIODS)[number];
  capTimezone: string;
  validFrom: string;
  /** The time at which it was made, its beginning where none is written; empty before it is made. */
  madeAt: string;
  validTo: string;
  expiresAfterDays: string;
  enabled: boolean;
}

export const newKey = countedKeys();

export const NEW_RULE: RuleDraft = {
  name: '',
  event: '',
  conditions: [],
  type: 'per_amount',
  points: '1',
  amountProperty: 'amount',
  currencyProperty: 'currency',
  currency: 'CLP',
  per: '1000',
  rounding: 'floor',
  maxPerEvent: '',
  capPoints: '',
  capPeriod: 'month',
  capTimezone: '',
  validFrom: '',
  madeAt: '',
  validTo: '',
  expiresAfterDays: '',
  enabled: true,
};

const textOf = (value: number | null | undefined): string => (value == null ? '' : String(value));
const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text));

export function draftOf(rule: Rule): RuleDraft {
  const { formula, max_per_contact: cap } = rule;
  const perAmount = formula.type === 'per_amount' ? formula : undefined;
  return {
    name: rule.name,
    event: rule.event,
    conditions: rule.conditions.flatMap(({ property, op, value }) => {
      const test = testDraft({ op, value });
      return test === undefined ? [] : [{ key: newKey(), property, ...test }];
    }),
    type: formula.type,
    points: String(formula.points),
    amountProperty: perAmount?.amount_property ?? NEW_RULE.amountProperty,
    currencyProperty: perAmount?.currency_property ?? NEW_RULE.currencyProperty,
    currency: perAmount?.currency ?? NEW_RULE.currency,
    per: textOf(perAmount?.per) || NEW_RULE.per,
    rounding: perAmount?.rounding ?? NEW_RULE.rounding,
    maxPerEvent: textOf(rule.max_per_event),
    capPoints: textOf(cap?.points),
    capPeriod: cap?.period ?? NEW_RULE.capPeriod,
    capTimezone: cap?.timezone ?? '',
    validFrom: rule.valid_from,
    madeAt: rule.created_at,
    validTo: rule.valid_to ?? '',
    expiresAfterDays: textOf(rule.expires_after_days),
    enabled: rule.enabled,
  };
}

/** What the API takes, for a new rule and for a change alike. */
export function bodyOf(draft: RuleDraft) {
  const capPoints = numberOf(draft.capPoints);
  const validFrom = draft.validFrom || draft.madeAt;
  return {
    name: draft.name.trim(),
    event: draft.event.trim(),
    conditions: draft.conditions.map((each) => ({ property: each.property, ...testOf(each) })),
    formula: formulaOf(draft),
    max_per_event: numberOf(draft.maxPerEvent),
    max_per_contact:
      capPoints === null
        ? null
        : {
            points: capPoints,
            period: draft.capPeriod,
            ...(draft.capTimezone !== '' && { timezone: draft.capTimezone }),
          },
    ...(validFrom !== '' && { valid_from: validFrom }),
    valid_to: draft.validTo === '' ? null : draft.validTo,
    expires_after_days: numberOf(draft.expiresAfterDays),
    enabled: draft.enabled,
  } as NewRule;
}

function formulaOf(draft: RuleDraft): object {
  const points = Number(draft.points);
  if (draft.type === 'fixed') return { type: 'fixed', points };
  return {
    type: 'per_amount',
    amount_property: draft.amountProperty,
    currency_property: draft.currencyProperty,
    currency: draft.currency,
    per: Number(draft.per),
    points,
    rounding: draft.rounding,
  };
}

/** What of the conditions this form cannot show, and would lose. */
export function isWhole(rule: Rule): boolean {
  return draftOf(rule).conditions.length === rule.conditions.length;
}
