import { z } from 'zod';
import { CHANNELS, type Channel } from '../addresses/channel.js';
import type { Category } from '../sends/send.js';
import type { Condition } from './condition.js';

/**
 * What a rule can answer to: never messaging's own events, or two rules could answer each other for ever, and never
 * identity's, whose mail is the platform's alone (messaging.md §3).
 */
export const ROUTABLE_EVENTS = [
  'core.event.recorded',
  'core.segment.entered',
  'core.segment.left',
  'loyalty.points.earned',
  'loyalty.points.spent',
  'loyalty.points.expired',
] as const;

/** The name of a routable event, without its version. */
export type RoutableEvent = (typeof ROUTABLE_EVENTS)[number];

/** Whom a rule's message goes to. */
export type RuleRecipient =
  | { readonly from: 'contact' }
  | { readonly from: 'event'; readonly path: string }
  | { readonly from: 'address'; readonly value: string };

/** What a rule does, as far as an event is concerned. */
export interface RuleContent {
  readonly id: string;
  readonly eventType: RoutableEvent;
  readonly eventName: string | null;
  readonly condition: Condition | null;
  readonly channel: Channel;
  readonly templateId: string;
  readonly recipient: RuleRecipient;
  readonly category: Category;
  readonly topic: string | null;
  readonly delaySeconds: number;
}

/** The three forms of a recipient. */
export const ruleRecipient = z.discriminatedUnion('from', [
  z.strictObject({ from: z.literal('contact') }),
  z.strictObject({
    from: z.literal('event'),
    path: z.string().regex(/^[^.\s]{1,100}(\.[^.\s]{1,100}){0,9}$/, 'Expected a path within the event'),
  }),
  z.strictObject({ from: z.literal('address'), value: z.string().min(1).max(4_096) }),
]);

/** A rule's delay ends within 30 days. */
export const LONGEST_DELAY_SECONDS = 30 * 86_400;

/** Whether a text names a channel rules can be made for. */
export const RULE_CHANNELS = CHANNELS;
