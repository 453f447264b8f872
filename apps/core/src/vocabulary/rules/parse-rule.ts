import { createHash } from 'node:crypto';
import { canonicalJson, pointerToken } from '@customer-platform/http';
import { FieldErrors, Problem } from '@customer-platform/problem-json';
import { CONSENT_CHANNELS, isPurpose, STATES } from '../consents/consent.js';
import { LONGEST_MS, parseDuration, SHORTEST_MS } from './duration.js';
import { readCount, readTest, tooLongOf } from './parse-test.js';
import { isAttributePath } from './vocabulary.js';
import type { EventNode, PropertyTest, RuleNode, Test } from './rule.js';

const DEEPEST = 8;
const MOST_LEAVES = 50;
const LONGEST_NAME = 200;
const MOST_BYTES = 32 * 1024;
/** An evaluation looks at so many events of each contact and one more. */
const HIGHEST_COUNT = 1_000;

/** What an unreadable node stands as, until its errors are thrown. */
const NOTHING: RuleNode = { kind: 'any', nodes: [] };

/**
 * Reads the rule of a segment (core.md §7).
 * @throws Problem `invalid_segment_rule` with the pointers of the bad nodes
 */
export function parseRule(value: unknown, pointer = '/rule'): RuleNode {
  return new Reading(false).whole(value, pointer);
}

/**
 * As {@link parseRule}, a rule that is to be stored: it must also be small, for it is kept in memory and asked of every
 * event. Those that are stored stay what they are.
 * @throws Problem `invalid_segment_rule` with the pointers of the bad nodes
 */
export function parseNewRule(value: unknown, pointer = '/rule'): RuleNode {
  return new Reading(true).whole(value, pointer);
}

/** One pass over a rule, which gathers what is wrong with it. */
class Reading {
  private readonly errors = new FieldErrors();
  private leaves = 0;

  /** `bounded`: whether it must be small too. */
  constructor(private readonly bounded: boolean) {}

  whole(value: unknown, pointer: string): RuleNode {
    const large = this.bounded && isRecord(value) && Buffer.byteLength(JSON.stringify(value)) > MOST_BYTES;
    const node = large
      ? this.fail(pointer, `A rule has at most ${MOST_BYTES} bytes of JSON.`)
      : this.node(value, pointer, 1);
    this.done(pointer);
    return node;
  }

  private done(pointer: string): void {
    if (this.leaves > MOST_LEAVES)
      this.fail(pointer, `A rule has at most ${MOST_LEAVES} leaves; this one has ${this.leaves}.`);
    if (this.errors.total > 0) throw Problem.validation(this.errors);
  }

  private node(value: unknown, pointer: string, depth: number): RuleNode {
    if (depth > DEEPEST) return this.fail(pointer, `A rule is at most ${DEEPEST} levels deep.`);
    if (!isRecord(value)) return this.fail(pointer, 'A rule is an object.');
    for (const kind of ['all', 'any'] as const) {
      if (Object.hasOwn(value, kind)) return this.group(kind, value, pointer, depth);
    }
    if (Object.hasOwn(value, 'not')) {
      this.members(value, pointer, ['not']);
      return { kind: 'not', node: this.node(value['not'], `${pointer}/not`, depth + 1) };
    }
    this.leaves += 1;
    // The rule is refused already; the others are only counted.
    if (this.leaves > MOST_LEAVES) return NOTHING;
    if (Object.hasOwn(value, 'event')) return this.event(value, pointer);
    if (Object.hasOwn(value, 'attribute')) return this.attribute(value, pointer);
    if (Object.hasOwn(value, 'consent')) return this.consent(value, pointer);
    return this.fail(pointer, 'A rule has one of `all`, `any`, `not`, `event`, `attribute` and `consent`.');
  }

  private group(
    kind: 'all' | 'any',
    value: Record<string, unknown>,
    pointer: string,
    depth: number,
  ): RuleNode {
    this.members(value, pointer, [kind]);
    const list = value[kind];
    const at = `${pointer}/${kind}`;
    if (!Array.isArray(list) || list.length === 0) return this.fail(at, 'It must be a list of rules.');
    // What could only add to the leaves above the limit need not be read.
    if (list.length > MOST_LEAVES) return this.fail(at, `A rule has at most ${MOST_LEAVES} leaves.`);
    return { kind, nodes: list.map((item, index) => this.node(item, `${at}/${index}`, depth + 1)) };
  }

  private attribute(value: Record<string, unknown>, pointer: string): RuleNode {
    this.members(value, pointer, ['attribute', 'op', 'value']);
    const path = value['attribute'];
    if (!isAttributePath(path))
      this.fail(
        `${pointer}/attribute`,
        'It must be a field of contacts that rules can ask for, or `attributes.<key>`.',
      );
    const test = this.test(value, pointer);
    return test ? { kind: 'attribute', path: path as string, test } : NOTHING;
  }

  private consent(value: Record<string, unknown>, pointer: string): RuleNode {
    this.members(value, pointer, ['consent', 'status']);
    const { consent, status } = value;
    if (!isOneOf(STATES, status)) this.fail(`${pointer}/status`, `It must be one of ${STATES.join(', ')}.`);
    if (!isRecord(consent))
      return this.fail(`${pointer}/consent`, 'It must be an object with `purpose` and `channel`.');
    this.members(consent, `${pointer}/consent`, ['purpose', 'channel']);
    const { purpose, channel = null } = consent;
    if (!isPurpose(purpose)) this.fail(`${pointer}/consent/purpose`, 'It is no purpose of consents.');
    if (channel !== null && !isOneOf(CONSENT_CHANNELS, channel))
      this.fail(`${pointer}/consent/channel`, `It must be one of ${CONSENT_CHANNELS.join(', ')}, or null.`);
    return {
      kind: 'consent',
      purpose: purpose as string,
      channel: channel as string | null,
      status: status as string,
    };
  }

  private event(value: Record<string, unknown>, pointer: string): RuleNode {
    this.members(value, pointer, ['event', 'where', 'count', 'within']);
    const { event } = value;
    if (typeof event !== 'string' || event === '' || event.length > LONGEST_NAME)
      this.fail(`${pointer}/event`, `It must be the name of an event, of 1 to ${LONGEST_NAME} characters.`);
    const where = this.where(value['where'], `${pointer}/where`);
    const count = readCount(value['count'], `${pointer}/count`, (at, detail) => this.fail(at, detail));
    if (this.bounded && count.value > HIGHEST_COUNT)
      this.fail(`${pointer}/count/value`, `It may be at most ${HIGHEST_COUNT}.`);
    const withinMs = this.within(value['within'], `${pointer}/within`);
    return eventNode(event as string, where, count, withinMs);
  }

  private where(value: unknown, pointer: string): PropertyTest[] {
    if (value === undefined) return [];
    if (!Array.isArray(value) || value.length > MOST_LEAVES) {
      this.fail(pointer, `It must be a list of at most ${MOST_LEAVES} conditions.`);
      return [];
    }
    return value.flatMap((item: unknown, index) => {
      const at = `${pointer}/${index}`;
      if (!isRecord(item)) {
        this.fail(at, 'A condition is an object with `property`, `op` and `value`.');
        return [];
      }
      this.members(item, at, ['property', 'op', 'value']);
      const { property } = item;
      if (typeof property !== 'string' || property === '' || property.length > LONGEST_NAME)
        this.fail(`${at}/property`, `It must name a property, in 1 to ${LONGEST_NAME} characters.`);
      const test = this.test(item, at);
      return test ? [{ property: property as string, test }] : [];
    });
  }

  private test(value: Record<string, unknown>, pointer: string): Test | undefined {
    const test = readTest(value, pointer, (at, detail) => this.fail(at, detail));
    const long = test && this.bounded ? tooLongOf(test) : undefined;
    if (long !== undefined) this.fail(`${pointer}/value`, long);
    return test;
  }

  private within(value: unknown, pointer: string): number {
    if (value === undefined) return Infinity;
    const ms = typeof value === 'string' ? parseDuration(value) : undefined;
    if (ms === undefined)
      this.fail(
        pointer,
        'It must be an ISO 8601 duration of weeks, days, hours, minutes and seconds, such as P30D.',
      );
    else if (ms < SHORTEST_MS || ms > LONGEST_MS)
      this.fail(pointer, 'It must be from one minute to 3,650 days.');
    return ms ?? Infinity;
  }

  private members(value: Record<string, unknown>, pointer: string, allowed: readonly string[]): void {
    for (const name of Object.keys(value)) {
      if (allowed.includes(name)) continue;
      this.fail(`${pointer}/${pointerToken(name)}`, `Unknown here; allowed are ${allowed.join(', ')}.`);
    }
  }

  private fail(pointer: string, detail: string): RuleNode {
    this.errors.add({ pointer, code: 'invalid_segment_rule', detail });
    return NOTHING;
  }
}

function eventNode(
  event: string,
  where: readonly PropertyTest[],
  count: EventNode['count'],
  withinMs: number,
): EventNode {
  // The order of conditions that must all hold has no meaning.
  const matched = [event, ...new Set(where.map((test) => canonicalJson(test)).sort())];
  const fingerprint = createHash('sha256').update(JSON.stringify(matched)).digest('hex').slice(0, 32);
  return { kind: 'event', event, where, count, withinMs, fingerprint };
}

function isOneOf(values: readonly string[], value: unknown): boolean {
  return (values as readonly unknown[]).includes(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
