import { Injectable } from '@nestjs/common';
import { contactKey } from '@customer-platform/contact-refs';
import { Clock, newId, ReferenceHolds, type WorkerTransaction } from '@customer-platform/database';
import { Inbox } from '@customer-platform/event-bus';
import { valueAt } from '@customer-platform/http';
import { checkAddress, checkNewAddress } from '../../vocabulary/addresses/address.js';
import { AddressKeys } from '../../vocabulary/addresses/address-keys.provider.js';
import { addressOf, type Contact } from '../../vocabulary/contacts/contact.js';
import { ContactsRepository } from '../../people/contacts/contacts.repository.js';
import type { NewSend, Recipient } from '../../vocabulary/sends/send.js';
import { SendsRepository } from '../../dispatch/sends/sends.repository.js';
import { looksAtContact, mayMeet, meets, PATHS } from './condition.js';
import { EventWaits } from '../../people/event-waits/event-waits.repository.js';
import type { RoutedEvent } from '../../vocabulary/events/routed-event.js';
import type { RuleContent } from './rule.js';
import { RuleCache } from './rule-cache.js';

const CONSUMER = 'routing';

/** A rule and the event it may answer to. */
interface Match {
  readonly rule: RuleContent;
  readonly event: RoutedEvent;
  /** Undefined where there is none, or core's word of it has not come. */
  readonly contact: Contact | undefined;
}

/**
 * From events to sends: match → condition → recipient → version → store. One send per rule and event, whatever is
 * delivered twice; nothing is looked up outside of the database. An event that comes before its contact waits for it.
 */
@Injectable()
export class Router {
  constructor(
    private readonly rules: RuleCache,
    private readonly inbox: Inbox,
    private readonly contacts: ContactsRepository,
    private readonly waits: EventWaits,
    private readonly sends: SendsRepository,
    private readonly keys: AddressKeys,
    private readonly holds: ReferenceHolds,
    private readonly clock: Clock,
  ) {}

  /** In a worker's transaction. */
  async route(tx: WorkerTransaction, events: readonly RoutedEvent[]): Promise<void> {
    const candidates = await this.candidates(tx, events);
    if (candidates.length === 0) return;
    const fresh = await this.notSeenBefore(tx, candidates);
    const contacts = await this.contactsOf(tx, fresh);
    const { true: early = [], false: known = [] } = Object.groupBy(fresh, ({ event }) =>
      isAwaited(event, contacts) ? 'true' : 'false',
    );
    await this.waits.add(tx, [...new Set(early.map(({ event }) => event))], this.clock.now());
    await this.store(tx, matching(known, contacts));
  }

  /**
   * Routes events that have waited for their contacts, in the order given; `over` are the ids of those that have waited
   * long enough. What such an event may have led to fails, to be seen in the organization's sends.
   * @returns the ids of those that wait no longer
   */
  async routeWaiting(
    tx: WorkerTransaction,
    events: readonly RoutedEvent[],
    over: ReadonlySet<string>,
  ): Promise<string[]> {
    // By the rules as they are now: what was disabled meanwhile leads to nothing.
    const candidates = await this.candidates(tx, events);
    const contacts = await this.contactsOf(
      tx,
      events.map((event) => ({ event })),
    );
    const settled = events.filter((event) => over.has(event.id) || !isAwaited(event, contacts));
    const ids = new Set(settled.map(({ id }) => id));
    await this.store(
      tx,
      matching(
        candidates.filter(({ event }) => ids.has(event.id)),
        contacts,
      ),
    );
    return [...ids];
  }

  /** What the event may have led to fails, to be seen in the organization's sends: it cannot be routed. */
  async giveUp(tx: WorkerTransaction, event: RoutedEvent): Promise<void> {
    const contacts = await this.contactsOf(tx, [{ event }]);
    const now = this.clock.now();
    const sends = matching(await this.candidates(tx, [event]), contacts).map((match): NewSend => {
      const contactId = match.contact?.id ?? event.contactId;
      const recipient = contactId === null ? { address: '' } : { contact_id: contactId };
      const target = { ...NOWHERE, contactId, recipient, reason: 'retries_exhausted' };
      // What the event says may be what cannot be kept.
      return { ...newSend(match, target, undefined, now), event: null };
    });
    await tx.useOrganization(event.organizationId);
    await this.sends.add(tx, await this.withoutHeld(tx, sends), now);
  }

  private async store(tx: WorkerTransaction, matches: readonly Match[]): Promise<void> {
    if (matches.length === 0) return;
    const versions = await publishedVersions(tx, matches);
    const now = this.clock.now();
    const sends: NewSend[] = [];
    for (const [organizationId, group] of Map.groupBy(matches, ({ event }) => event.organizationId)) {
      await tx.useOrganization(organizationId);
      const made: NewSend[] = [];
      for (const match of group)
        made.push(await this.sendOf(tx, match, versions.get(templateKey(match)), now));
      sends.push(...(await this.withoutHeld(tx, made)));
    }
    await this.sends.add(tx, sends, now);
  }

  private async candidates(
    tx: WorkerTransaction,
    events: readonly RoutedEvent[],
  ): Promise<{ rule: RuleContent; event: RoutedEvent }[]> {
    const books = await this.rules.booksOf(tx, [...new Set(events.map((event) => event.organizationId))]);
    return events.flatMap((event) => {
      const rules = books.get(event.organizationId)?.candidates(event.type, event.name) ?? [];
      return rules.map((rule) => ({ rule, event }));
    });
  }

  private async notSeenBefore<T extends { event: RoutedEvent }>(
    tx: WorkerTransaction,
    found: readonly T[],
  ): Promise<T[]> {
    const events = [...new Set(found.map(({ event }) => event))];
    const fresh = new Set(await this.inbox.claimAcross(tx, CONSUMER, events));
    return found.filter(({ event }) => fresh.has(event));
  }

  private async contactsOf(
    tx: WorkerTransaction,
    found: readonly { event: RoutedEvent }[],
  ): Promise<Map<string, Contact>> {
    const refs = found.flatMap(({ event: { organizationId, contactId: id } }) =>
      id === null ? [] : [{ organizationId, id }],
    );
    return this.contacts.resolve(tx, refs);
  }

  private async sendOf(
    tx: WorkerTransaction,
    match: Match,
    templateVersion: number | undefined,
    now: Date,
  ): Promise<NewSend> {
    const target = await this.targetOf(tx, match);
    const reason = templateVersion === undefined ? 'template_invalid' : target.reason;
    return newSend(match, { ...target, reason }, templateVersion, now);
  }

  /** Nothing reaches a contact that core is about to purge, deleted there already; an address alone is no contact. */
  private async withoutHeld(tx: WorkerTransaction, sends: readonly NewSend[]): Promise<NewSend[]> {
    const contactIds = sends.flatMap(({ contactId }) => contactId ?? []);
    const held = await this.holds.held(tx, 'core.contacts', contactIds);
    const isHeld = ({ contactId }: NewSend): boolean => contactId !== null && held.has(contactId);
    return sends.flatMap((send) => {
      if (!isHeld(send)) return send;
      return 'address' in send.recipient ? { ...send, contactId: null } : [];
    });
  }

  private async targetOf(tx: WorkerTransaction, match: Match): Promise<Target> {
    const { rule, event, contact } = match;
    if (!contact && event.contactId !== null && needsContact(rule))
      return this.checked(match, null, event.contactId, { contact_id: event.contactId });
    if (rule.recipient.from === 'contact') {
      if (!contact)
        return { ...NOWHERE, contactId: null, recipient: { address: '' }, reason: 'recipient_unreachable' };
      const recipient = { contact_id: contact.id };
      const known = addressOf(contact.profile, rule.channel, undefined);
      // Its device is not known here: the dispatcher asks core.
      if (known === undefined) return { ...NOWHERE, contactId: contact.id, recipient, reason: null };
      return this.checked(match, known, contact.id, recipient);
    }
    const text =
      rule.recipient.from === 'address'
        ? rule.recipient.value
        : valueAt(event.data, rule.recipient.path, PATHS);
    const given = typeof text === 'string' ? text : null;
    // What the rule itself says stands stored.
    const check = rule.recipient.from === 'address' ? checkAddress : checkNewAddress;
    const address = given === null ? undefined : check(rule.channel, given);
    if (given !== null && !address)
      return { ...NOWHERE, recipient: { address: given }, contactId: null, reason: 'invalid_address' };
    const owner = address && (await this.contacts.owners(tx, [address]))(address);
    return this.checked(match, given, owner ?? null, { address: given ?? '' });
  }

  private checked(match: Match, text: string | null, contactId: string | null, recipient: Recipient): Target {
    if (text === null) return { ...NOWHERE, contactId, recipient, reason: 'recipient_unreachable' };
    const address = checkAddress(match.rule.channel, text);
    if (!address) return { ...NOWHERE, contactId, recipient, reason: 'invalid_address' };
    const addressKey = this.keys.of(match.event.organizationId, address).current;
    return { contactId, recipient, address: address.delivery, addressKey, reason: null };
  }
}

function contactOf(
  { organizationId, contactId: id }: RoutedEvent,
  contacts: ReadonlyMap<string, Contact>,
): Contact | undefined {
  const contact = id === null ? undefined : contacts.get(contactKey({ organizationId, id }));
  // Merged into one whose own event has not come.
  return contact?.state === 'merged' ? undefined : contact;
}

/** Whether core's word of the contact has still to come. */
function isAwaited(event: RoutedEvent, contacts: ReadonlyMap<string, Contact>): boolean {
  return event.contactId !== null && contactOf(event, contacts) === undefined;
}

function matching(
  found: readonly { rule: RuleContent; event: RoutedEvent }[],
  contacts: ReadonlyMap<string, Contact>,
): Match[] {
  return found.flatMap(({ rule, event }) => {
    const contact = contactOf(event, contacts);
    // Nothing reaches a contact that was deleted or erased, not even as a failed send.
    if (contact && contact.state !== 'active') return [];
    const { condition } = rule;
    const given = { event: event.data };
    const met =
      condition === null ||
      (isAwaited(event, contacts)
        ? mayMeet(condition, given)
        : meets(condition, { ...given, contact: { ...contact?.profile } }));
    return met ? [{ rule, event, contact }] : [];
  });
}

interface Target {
  readonly contactId: string | null;
  readonly recipient: Recipient;
  readonly address: string | null;
  readonly addressKey: string | null;
  readonly reason: string | null;
}

const NOWHERE = { address: null, addressKey: null };

function newSend(
  { rule, event }: Match,
  target: Target,
  templateVersion: number | undefined,
  now: Date,
): NewSend {
  const { reason } = target;
  return {
    organizationId: event.organizationId,
    id: newId(),
    channel: rule.channel,
    state: reason === null ? 'accepted' : 'failed',
    reason,
    category: rule.category,
    topic: rule.topic,
    contactId: target.contactId,
    recipient: target.recipient,
    address: target.address,
    addressKey: target.addressKey,
    sender: null,
    templateId: rule.templateId,
    templateVersion: templateVersion ?? null,
    locale: null,
    source: 'routing',
    sourceId: rule.id,
    runId: null,
    eventId: event.id,
    campaignId: null,
    metadata: null,
    correlationId: event.correlationId,
    dueAt: reason === null ? new Date(now.getTime() + rule.delaySeconds * 1_000) : null,
    expiresAt: null,
    data: {},
    event: event.data,
    content: null,
  };
}

/** Whether the rule says nothing without the contact. */
function needsContact({ recipient, condition }: RuleContent): boolean {
  return recipient.from === 'contact' || (condition !== null && looksAtContact(condition));
}

function templateKey({ rule, event }: Match): string {
  return `${event.organizationId}/${rule.templateId}`;
}

/** The versions that are sent now, pinned; locked, so that no purge takes them away before the sends are there. */
async function publishedVersions(
  tx: WorkerTransaction,
  matches: readonly Match[],
): Promise<Map<string, number>> {
  const wanted = new Map(matches.map((match) => [templateKey(match), match]));
  const rows = await tx.query<{ organization_id: string; id: string; published_version: number }>(
    `SELECT organization_id, id, published_version FROM templates
     WHERE (organization_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
       AND deleted_at IS NULL AND published_version IS NOT NULL
     ORDER BY organization_id, id FOR KEY SHARE`,
    [
      [...wanted.values()].map(({ event }) => event.organizationId),
      [...wanted.values()].map(({ rule }) => rule.templateId),
    ],
  );
  return new Map(rows.map((row) => [`${row.organization_id}/${row.id}`, row.published_version]));
}
