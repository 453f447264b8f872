import type { CheckedAddress } from '../../vocabulary/addresses/address.js';
import { checkAddress } from '../../vocabulary/addresses/address.js';
import { isTimezone } from '../../vocabulary/calendar/local-time.js';
import { quietUntil } from '../../vocabulary/calendar/quiet-hours.js';
import type { ChannelPlan, SendingPlan } from '../../settings/channels/channel-plans.js';
import type { Contact } from '../../vocabulary/contacts/contact.js';
import { cancellationReason } from '../../vocabulary/sends/canceled-sends.js';
import type { BatchFacts } from './batch-facts.js';
import type { ClaimedSend } from './claimed-send.js';
import type { DispatchDecision } from './dispatch-decision.js';

/** The facts with which a send goes on that has passed the checks before the gate of messaging.md §1. */
export interface PassedSend {
  readonly kind: 'passed';
  readonly send: ClaimedSend;
  readonly plan: ChannelPlan;
  readonly sending: SendingPlan;
  readonly contact: Contact | undefined;
  readonly address: CheckedAddress;
}

const ASK_AGAIN_MS = 15_000;
/** A secret that does not open, or a maker who reads no more, is mended by people; all that waits for it is looked at again each time. */
const SETTINGS_MS = 5 * 60_000;
/** How long a send waits for a word of core's, from when it is first needed: a send may have waited days for its time. */
const CORE_PATIENCE_MS = 15 * 60_000;

/** The decision on a send that does not go on. */
type Stopped = Exclude<DispatchDecision, { kind: 'ready' }>;

/** Checks 1 to 4, in their order; the first that fails decides. */
export function checkSend(send: ClaimedSend, facts: BatchFacts, now: Date): PassedSend | Stopped {
  const checked = checkPerson(send, facts, now);
  if (checked.kind !== 'passed') return checked;
  const release = quietHoursEnd(checked, now);
  return release ? hold(send, release, 'quiet_hours') : checked;
}

/** Check 4: until when a message may not disturb; undefined: it may now. */
export function quietHoursEnd({ send, sending, contact }: PassedSend, now: Date): Date | undefined {
  if (send.category !== 'marketing' || !sending.quietHours) return undefined;
  return quietUntil(sending.quietHours, timezoneOf(contact), now);
}

/** Checks 1 to 3: what does not depend on the hour. */
export function checkPerson(send: ClaimedSend, facts: BatchFacts, now: Date): PassedSend | Stopped {
  if (facts.isCanceled(send))
    return { kind: 'end', send, state: 'canceled', reason: cancellationReason(send) };
  if (facts.suspended(send)) return { kind: 'suspend', send };
  const standing = facts.standing(send);
  // A campaign has one message for each person, which waits for who adopts it.
  if (standing === 'not_permitted')
    return send.runId === null ? fail(send, 'not_permitted') : waitForSettings(send, now);
  if (standing === 'unknown') return waitForRights(send, now);
  const recipient = facts.recipient(send);
  if (recipient.kind === 'silent') return waitForWord(send, now);
  if (recipient.kind === 'nobody') return fail(send, 'recipient_unreachable');
  const { contact } = recipient;
  if (contact && contact.state !== 'active') return fail(send, 'contact_deleted');
  if (send.expiresAt && send.expiresAt <= now) return fail(send, 'expired');
  const sending = facts.plan(send);
  const plan = sending?.channels[send.channel];
  if (sending?.unreadable.includes(send.channel)) return waitForSettings(send, now);
  if (!sending || !plan) return fail(send, 'channel_not_configured');
  const reader = plan.way.kind === 'inbox' ? undefined : facts.channelStanding(send);
  if (reader === 'not_permitted') return waitForSettings(send, now);
  if (reader === 'unknown') return waitForRights(send, now);
  if (facts.sender(send)?.permitted === false) return fail(send, 'sender_domain_unverified');
  if (recipient.address === null) return fail(send, 'recipient_unreachable');
  const address = checkAddress(send.channel, recipient.address);
  if (!address) return fail(send, 'invalid_address');
  if (send.category === 'marketing') {
    const objection = objectionOf(send, sending, plan, contact, facts);
    if (objection) return { kind: 'end', send, state: 'opted_out', reason: objection };
  }
  return { kind: 'passed', send, plan, sending, contact, address };
}

/** The calendar a contact lives by; the settings' own, or the world's, where nobody knows. */
export function calendarOf(contact: Contact | undefined, sending: SendingPlan): string {
  return timezoneOf(contact) ?? sending.quietHours?.timezone ?? 'UTC';
}

/** Check 3: what the person has said. What stands under the address itself is looked at in the gate. */
function objectionOf(
  send: ClaimedSend,
  sending: SendingPlan,
  plan: ChannelPlan,
  contact: Contact | undefined,
  facts: BatchFacts,
): 'no_consent' | 'preference' | undefined {
  const consent = contact && facts.consent(contact, send.channel);
  if (consent === 'denied' || consent === 'withdrawn') return 'no_consent';
  if (plan.consentMode === 'opt_in' && consent !== 'granted') return 'no_consent';
  const topic = sending.topics.find(({ key }) => key === send.topic);
  const unasked = topic?.default === false;
  return unasked && !(contact && facts.chose(contact, send.channel, topic.key)) ? 'preference' : undefined;
}

function timezoneOf(contact: Contact | undefined): string | undefined {
  const zone = contact?.profile.timezone;
  return zone && isTimezone(zone) ? zone : undefined;
}

function waitForWord(send: ClaimedSend, now: Date) {
  const since = send.waitingSince ?? now;
  const end = new Date(since.getTime() + CORE_PATIENCE_MS);
  return now < end
    ? ({ kind: 'later', send, until: new Date(now.getTime() + ASK_AGAIN_MS), since } as const)
    : fail(send, 'recipient_unreachable');
}

function waitForRights(send: ClaimedSend, now: Date) {
  return { kind: 'later', send, until: new Date(now.getTime() + ASK_AGAIN_MS) } as const;
}

function waitForSettings(send: ClaimedSend, now: Date) {
  return { kind: 'later', send, until: new Date(now.getTime() + SETTINGS_MS) } as const;
}

function fail(send: ClaimedSend, reason: string) {
  return { kind: 'end', send, state: 'failed', reason } as const;
}

function hold(send: ClaimedSend, until: Date, reason: string) {
  return { kind: 'hold', send, until, reason } as const;
}
