import fc from 'fast-check';
import type { Facts, Said } from '../vocabulary/rules/evaluate.js';
import type { EventNode } from '../vocabulary/rules/rule.js';
import { passes, valueAt } from '../vocabulary/rules/values.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Something that happens to one contact. */
export type Happening =
  | { readonly kind: 'track'; readonly event: string; readonly x: unknown; readonly offset: number }
  | { readonly kind: 'repeat' }
  | { readonly kind: 'identify'; readonly traits: Record<string, unknown>; readonly offset: number }
  | { readonly kind: 'delete' | 'restore' | 'merge' | 'part' }
  | {
      readonly kind: 'consent';
      readonly status: 'granted' | 'denied' | 'withdrawn';
      readonly channel: string | null;
      readonly offset: number;
      readonly lasts: number | null;
    };

/** What happens between two looks at all memberships. */
export interface Round {
  /** By contact, several or none of each. */
  readonly happenings: readonly (readonly Happening[])[];
  /** How far the clock goes on afterwards, in milliseconds; or back. */
  readonly pass: number;
  /** A segment that gets another rule. */
  readonly change?: { readonly segment: number; readonly rule: object };
}

/** Histories of many contacts in one organization. */
export interface Histories {
  readonly rules: readonly object[];
  readonly rounds: readonly Round[];
}

const WINDOWS = { PT1M: MINUTE, PT5M: 5 * MINUTE, PT1H: HOUR, P1D: DAY };

/** At the edges of windows, and a millisecond to either side of them. */
const offset = (...of: number[]): fc.Arbitrary<number> =>
  fc.tuple(fc.constantFrom(...of), fc.constantFrom(-1, 0, 1)).map(([at, by]) => at + by);

const past = offset(0, -30 * SECOND, ...Object.values(WINDOWS).map((length) => -length));
const aroundNow = fc.oneof(
  { weight: 4, arbitrary: past },
  { weight: 1, arbitrary: offset(30 * SECOND, 5 * MINUTE) },
);

const value = fc.constantFrom<unknown>(1, 2, 3, 'one', 'two', true, null);

const test = (property: object): fc.Arbitrary<object> =>
  fc
    .constantFrom(
      { op: 'eq', value: 1 },
      { op: 'ne', value: 'one' },
      { op: 'gt', value: 1 },
      { op: 'lte', value: 2 },
      { op: 'in', value: [2, 'two'] },
      { op: 'prefix', value: 't' },
      { op: 'contains', value: 'n' },
      { op: 'exists', value: true },
      { op: 'exists', value: false },
    )
    .map((op) => ({ ...property, ...op }));

const eventLeaf = fc
  .record(
    {
      event: fc.constantFrom('paid', 'seen'),
      where: fc.array(test({ property: 'x' }), { maxLength: 1 }),
      count: fc.record({
        op: fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte'),
        value: fc.integer({ min: 0, max: 3 }),
      }),
      within: fc.constantFrom(...Object.keys(WINDOWS)),
    },
    { requiredKeys: ['event'] },
  )
  .map((leaf): object => leaf);

const attributeLeaf = fc.oneof(
  test({ attribute: 'attributes.plan' }),
  fc
    .constantFrom(...Object.keys(WINDOWS))
    .map((length) => ({ attribute: 'attributes.at', op: 'within_last', value: length })),
  fc.constant({ attribute: 'attributes.deep.plan', op: 'eq', value: 1 }),
);

const consentLeaf = fc
  .tuple(fc.constantFrom('email', 'sms', null), fc.constantFrom('granted', 'denied', 'withdrawn', 'expired'))
  .map(([channel, status]) => ({ consent: { purpose: 'marketing', channel }, status }));

const leaf = fc.oneof(
  { weight: 4, arbitrary: eventLeaf },
  { weight: 2, arbitrary: attributeLeaf },
  { weight: 1, arbitrary: consentLeaf },
);

/** Rules of every kind, small enough that contacts come to be on either side of them. */
const someRule: fc.Arbitrary<object> = fc.letrec<{ rule: object }>((tie) => ({
  rule: fc.oneof(
    { depthSize: 'small', withCrossShrink: false },
    { weight: 3, arbitrary: leaf },
    { weight: 1, arbitrary: fc.array(tie('rule'), { minLength: 1, maxLength: 3 }).map((all) => ({ all })) },
    { weight: 1, arbitrary: fc.array(tie('rule'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })) },
    { weight: 1, arbitrary: tie('rule').map((not) => ({ not })) },
  ),
})).rule;

const traits = fc.oneof(
  value.map((plan) => ({ plan })),
  past.map((ago) => ({ at: ago })),
  value.map((plan) => ({ deep: { plan } })),
);

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('track' as const),
      event: fc.constantFrom('paid', 'seen', 'other'),
      x: value,
      offset: aroundNow,
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'repeat' as const }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('identify' as const), traits, offset: past }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('delete', 'restore', 'merge', 'part').map((kind) => ({ kind })),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('consent' as const),
      status: fc.constantFrom('granted' as const, 'denied' as const, 'withdrawn' as const),
      channel: fc.constantFrom('email', 'sms', null),
      offset: past,
      lasts: fc.constantFrom(null, MINUTE, HOUR),
    }),
  },
);

/** Histories of so many contacts over so many rounds. */
export function histories(contacts: number, rounds: number, rules: number): fc.Arbitrary<Histories> {
  const round = fc.record(
    {
      happenings: fc.array(fc.array(happening, { maxLength: 2 }), {
        minLength: contacts,
        maxLength: contacts,
      }),
      pass: fc.oneof(
        { weight: 3, arbitrary: offset(1, 30 * SECOND, ...Object.values(WINDOWS)) },
        { weight: 1, arbitrary: offset(-SECOND, -5 * SECOND, -30 * SECOND, -5 * MINUTE, -HOUR, -DAY) },
      ),
      change: fc.record({ segment: fc.nat(rules - 1), rule: someRule }),
    },
    { requiredKeys: ['happenings', 'pass'] },
  );
  return fc.record({
    rules: fc.array(someRule, { minLength: rules, maxLength: rules }),
    rounds: fc.array(round, { minLength: rounds, maxLength: rounds }),
  });
}

/** An event as a history remembers it. */
interface PastEvent {
  readonly key: string;
  readonly event: string;
  readonly x: unknown;
  readonly at: number;
}

/** All that has happened to a contact: what a full recompute starts from. */
export class History {
  readonly events: PastEvent[] = [];
  readonly said: Said[] = [];
  readonly attributes = new Map<string, { value: unknown; at: number }>();
  /** What it went through, for the message of a failure. */
  readonly log: string[] = [];
  exists = false;
  deleted = false;
  mergedInto: History | undefined;
  readonly merged = new Set<History>();

  constructor(readonly externalId: string) {}

  get active(): boolean {
    return this.exists && !this.deleted && !this.mergedInto;
  }

  /** The latest word on an attribute wins; what a soft-deleted contact sends says nothing of it. */
  identify(given: Record<string, unknown>, at: number): void {
    if (this.deleted) return;
    for (const [key, said] of Object.entries(given)) {
      const known = this.attributes.get(key);
      if (known === undefined || known.at <= at) this.attributes.set(key, { value: said, at });
    }
  }

  /** Whoever has the history now. */
  get holder(): History {
    return this.mergedInto?.holder ?? this;
  }

  /** Itself and all that were merged into it, one into another. */
  get family(): History[] {
    return [this, ...[...this.merged].flatMap(({ family }) => family)];
  }

  /** The facts, looked up one by one in all that has happened. */
  factsAt(now: number): Facts {
    const { family } = this;
    const attributes = Object.fromEntries([...this.attributes].map(([key, { value: said }]) => [key, said]));
    return {
      attribute: (path) => valueAt({ attributes }, path),
      said: () => family.flatMap(({ said }) => said),
      occurrences: ({ event, where }: EventNode) => {
        const times = family
          .flatMap(({ events }) => events)
          .filter((one) => one.event === event)
          .filter(({ x, at }) =>
            where.every(({ property, test: asked }) => passes(valueAt({ x }, property), asked, at)),
          )
          .map(({ at }) => at);
        return {
          past: times.filter((at) => at <= now).sort((one, other) => other - one),
          future: times.filter((at) => at > now).sort((one, other) => one - other),
        };
      },
    };
  }
}
