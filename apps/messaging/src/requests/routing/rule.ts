import { z } from 'zod';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { RoutableEvent } from '../../vocabulary/events/routed-event.js';
import type { Category } from '../../vocabulary/sends/send.js';
import type { Condition } from './condition.js';

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
