import type { KeysOfAddress } from '../../vocabulary/addresses/address-keys.js';
import type { ChannelPlan, SendingPlan } from '../../settings/channels/channel-plans.js';
import type { SendState } from '../../vocabulary/sends/send-state.js';
import type { ClaimedSend } from './claimed-send.js';
import type { OutgoingMessage } from '../../providers/transport-config.js';

/** Suppressions that a send is held against, and the keys under which they could stand. */
export interface SuppressionList {
  readonly organizationId: string;
  readonly keys: readonly string[];
}

/** A send that stands before the last two checks: composed, addressed, nothing left to decide but caps and suppression. */
export interface ReadySend {
  readonly kind: 'ready';
  readonly send: ClaimedSend;
  readonly plan: ChannelPlan;
  readonly message: OutgoingMessage;
  readonly keys: KeysOfAddress;
  /** In whose suppressions the address is looked up; its own organization's unless given. */
  readonly lists?: readonly SuppressionList[];
  /** Of the contact it reaches, merges followed. */
  readonly contactId: string | null;
  /** Time zone of the calendar in which caps are counted. */
  readonly timezone: string;
  readonly caps: SendingPlan['caps'];
  readonly subject: string | null;
  readonly locale: string | null;
  readonly messageId: string;
}

/** What the checks before the gate say of a send. */
export type DispatchDecision =
  | ReadySend
  /** It ends here. */
  | { readonly kind: 'end'; readonly send: ClaimedSend; readonly state: SendState; readonly reason: string }
  /** It waits for a time. */
  | { readonly kind: 'hold'; readonly send: ClaimedSend; readonly until: Date; readonly reason: string }
  /** It waits until its organization is active again. */
  | { readonly kind: 'suspend'; readonly send: ClaimedSend }
  /** It is looked at again soon; nobody needs to know. `since`: when it began to wait for another module's word. */
  | { readonly kind: 'later'; readonly send: ClaimedSend; readonly until: Date; readonly since?: Date };
