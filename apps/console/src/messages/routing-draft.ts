import type { BodyOf, Schemas } from '@customer-platform/client';
import { countedKeys, testDraft, testOf, type Condition, type Op } from '../segments/rule.ts';
import type { Channel, EventType } from './vocabulary.ts';

export type RoutingRule = Schemas['RuleDto'];
type NewRoutingRule = BodyOf<'post', '/v1/messaging/event-routing'>;

export const RECIPIENTS = ['contact', 'event', 'address'] as const;
export const ROUTING_OPS: readonly Op[] = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'contains',
  'prefix',
  'exists',
];
export const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
export type Unit = keyof typeof UNITS;

/** A rule as its form holds it. */
export interface RoutingDraft {
  name: string;
  enabled: boolean;
  eventType: EventType;
  eventName: string;
  joined: 'all' | 'any';
  conditions: readonly Condition[];
  /** A condition with groups inside of groups: kept as it is, and not written here. */
  nested: RoutingRule['condition'] | undefined;
  channel: Channel;
  templateId: string;
  to: (typeof RECIPIENTS)[number];
  /** The path within the event, or the address. */
  where: string;
  category: RoutingRule['category'];
  topic: string;
  delay: string;
  unit: Unit;
}

export const newKey = countedKeys();

export const NEW_ROUTING: RoutingDraft = {
  name: '',
  enabled: true,
  eventType: 'core.event.recorded',
  eventName: '',
  joined: 'all',
  conditions: [],
  nested: undefined,
  channel: 'email',
  templateId: '',
  to: 'contact',
  where: '',
  category: 'transactional',
  topic: '',
  delay: '0',
  unit: 'minutes',
};

export function draftOf(rule: RoutingRule): RoutingDraft {
  const { from, path, value } = rule.recipient as { from: RoutingDraft['to']; path?: string; value?: string };
  return {
    name: rule.name,
    enabled: rule.enabled,
    eventType: rule.event_type,
    eventName: rule.event_name ?? '',
    ...conditionsOf(rule.condition),
    channel: rule.channel,
    templateId: rule.template_id,
    to: from,
    where: path ?? value ?? '',
    category: rule.category,
    topic: rule.topic ?? '',
    ...delayOf(rule.delay_seconds),
  };
}

/** The largest unit that says a delay in whole figures. */
export function delayOf(seconds: number): { delay: string; unit: Unit } {
  const units = (Object.keys(UNITS) as Unit[]).filter((each) => seconds % UNITS[each] === 0);
  const unit = seconds === 0 ? 'minutes' : (units.at(-1) ?? 'seconds');
  return { delay: String(seconds / UNITS[unit]), unit };
}

function conditionsOf(
  condition: RoutingRule['condition'],
): Pick<RoutingDraft, 'joined' | 'conditions' | 'nested'> {
  if (condition === null) return { joined: 'all', conditions: [], nested: undefined };
  const joined = Array.isArray(condition['any']) ? 'any' : 'all';
  const parts = condition[joined];
  const conditions = Array.isArray(parts) ? parts.flatMap((part: unknown) => leafOf(part) ?? []) : [];
  const whole = Array.isArray(parts) && conditions.length === parts.length;
  return whole
    ? { joined, conditions, nested: undefined }
    : { joined: 'all', conditions: [], nested: condition };
}

function leafOf(part: unknown): Condition | undefined {
  const { path, op, value } = part as { path?: unknown; op?: unknown; value?: unknown };
  const test = testDraft({ op, value });
  return typeof path === 'string' && test !== undefined
    ? { key: newKey(), property: path, ...test }
    : undefined;
}

/** What the API takes of a new rule. */
export function bodyOf(draft: RoutingDraft): NewRoutingRule {
  const { joined, conditions, nested } = draft;
  const leaves = conditions.map((each) => ({ path: each.property.trim(), ...testOf(each) }));
  return {
    name: draft.name.trim(),
    enabled: draft.enabled,
    event_type: draft.eventType,
    event_name: draft.eventType === 'core.event.recorded' ? draft.eventName.trim() : null,
    condition: nested ?? (leaves.length === 0 ? null : { [joined]: leaves }),
    channel: draft.channel,
    template_id: draft.templateId,
    recipient: recipientOf(draft),
    category: draft.category,
    topic: draft.topic === '' ? null : draft.topic,
    delay_seconds: Math.round(Number(draft.delay) * UNITS[draft.unit]),
  };
}

function recipientOf({ to, where }: RoutingDraft): Record<string, unknown> {
  if (to === 'contact') return { from: 'contact' };
  return to === 'event' ? { from: 'event', path: where.trim() } : { from: 'address', value: where.trim() };
}

/** The same as a merge: what an earlier form of the recipient or of the condition had goes with null. */
export function patchOf(body: NewRoutingRule): NewRoutingRule {
  const { condition, recipient } = body;
  return {
    ...body,
    recipient: { path: null, value: null, ...recipient },
    condition: condition ? { all: null, any: null, ...condition } : null,
  };
}
