import { genericAdapter } from './generic.adapter.js';
import { standardAdapter } from './standard.adapter.js';
import { twilioAdapter } from './twilio.adapter.js';
import type { WebhookAdapter } from './webhook-call.js';

/** By the name in the path (messaging.md §7). */
export const ADAPTERS: ReadonlyMap<string, WebhookAdapter> = new Map([
  ['standard', standardAdapter],
  ['generic', genericAdapter],
  ['twilio', twilioAdapter],
]);
