/** Operators of a condition. */
export const CONDITION_OPS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'prefix', 'exists'] as const;
type ConditionOp = (typeof CONDITION_OPS)[number];

/** One demand on an event's properties; all of a rule's are joined by AND. */
export interface Condition {
  /** Dotted path in `properties`, at most five deep. */
  property: string;
  op: ConditionOp;
  value: unknown;
}

export const ROUNDINGS = ['floor', 'half_up', 'ceil'] as const;
export type Rounding = (typeof ROUNDINGS)[number];

interface FixedFormula {
  type: 'fixed';
  points: number;
}

/** round(amount × points / per), `per` and the amount in minor units of `currency`. */
export interface PerAmountFormula {
  type: 'per_amount';
  amount_property: string;
  currency_property: string;
  currency: string;
  per: number;
  points: number;
  rounding: Rounding;
}

export type Formula = FixedFormula | PerAmountFormula;

export const PERIODS = ['day', 'month', 'year', 'lifetime'] as const;

/** How many points one contact may earn by the rule within a period of the event's `occurred_at`. */
export interface ContactCap {
  points: number;
  period: (typeof PERIODS)[number];
  timezone: string;
}

/** What a rule says; every change of it makes a new version. */
export interface RuleContent {
  event: string;
  conditions: Condition[];
  formula: Formula;
  maxPerEvent: number | null;
  maxPerContact: ContactCap | null;
  validFrom: Date;
  validTo: Date | null;
  expiresAfterDays: number | null;
  enabled: boolean;
}
