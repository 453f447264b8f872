import { Injectable } from '@nestjs/common';
import { contactKey } from '@customer-platform/contact-refs';
import { Clock, Database, type Transaction } from '@customer-platform/database';
import { parseInstant, type RequestContext } from '@customer-platform/http';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { checkAddress } from '../../vocabulary/addresses/address.js';
import { AddressKeys } from '../../vocabulary/addresses/address-keys.provider.js';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import { ChannelPlans, type SendingPlan } from '../../settings/channels/channel-plans.js';
import { addressOf, contactSubject } from '../../vocabulary/contacts/contact.js';
import { ContactRefresh } from '../contacts/contact-refresh.js';
import { ContactsRepository } from '../contacts/contacts.repository.js';
import { GateWriter } from '../gate-lock/gate-writer.js';
import { NotificationReads } from '../notifications/notification-reads.js';
import { readShape } from '../../vocabulary/shapes/read-shape.js';
import {
  choicesOf,
  liftedBy,
  objectionsOf,
  preferencesFrom,
  preferencesPatch,
  type Choice,
  type Objection,
  type PreferenceRow,
  type Preferences,
} from './preference-document.js';
import { PreferenceJournal, type PreferenceChange } from './preference-journal.js';

/** A person's preferences with what they have declined and how far the inbox has been read. */
export interface ShownPreferences {
  readonly channels: Preferences;
  readonly objections: readonly Objection[];
  readonly readUntil: Date | null;
}

/** A choice that is to hold for a person. */
export interface PreferenceWish {
  readonly contactId: string;
  readonly choices: readonly Choice[];
  readonly readUntil?: Date;
  /** Runs for staff in the transaction that writes: refuses, or says why objections are lifted. */
  readonly demand?: (tx: Transaction, before: ShownPreferences) => Promise<string | null>;
}

/** Under what a person's choices may stand: the contact, and by channel the keys of its address. */
type Subjects = Readonly<Record<Channel, readonly string[]>>;

const CHOOSE = `
  INSERT INTO preferences AS p (organization_id, subject, channel, topic, subscribed, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (organization_id, subject, channel, topic) DO UPDATE
    SET subscribed = excluded.subscribed, updated_at = excluded.updated_at
  WHERE p.subscribed <> excluded.subscribed`;

/** What was ended by a link is the same person's to begin again. */
const LIFT = `
  DELETE FROM preferences WHERE organization_id = $1 AND subject = ANY($2::text[]) AND channel = $3 AND topic = $4`;

/** Keeps what people want to receive (messaging.md §11), as the gate asks for it. */
@Injectable()
export class PreferencesService {
  constructor(
    private readonly database: Database,
    private readonly gate: GateWriter,
    private readonly plans: ChannelPlans,
    private readonly contacts: ContactRefresh,
    private readonly known: ContactsRepository,
    private readonly keys: AddressKeys,
    private readonly reads: NotificationReads,
    private readonly journal: PreferenceJournal,
    private readonly clock: Clock,
  ) {}

  async get(context: RequestContext, contactId = context.principal.id): Promise<ShownPreferences> {
    const subjects = await this.subjectsOf(context, contactId);
    return this.database.inOrganization(context, (tx) => this.read(tx, contactId, subjects));
  }

  /**
   * A member's own wish, as JSON merge. When this returns, no hand-off that an objection stops begins any more.
   * @throws Problem `validation_failed`
   */
  update(context: RequestContext, body: object): Promise<ShownPreferences> {
    const { notifications_read_until: until, ...patch } = readShape(preferencesPatch, body, '');
    return this.change(context, {
      contactId: context.principal.id,
      choices: choicesOf(patch),
      ...(until === undefined ? {} : { readUntil: new Date(parseInstant(until) ?? until) }),
    });
  }

  /**
   * Carries out a wish, whoever says it. When this returns, no hand-off that an objection stops begins any more.
   * @throws Problem `validation_failed` for a topic that there is not, `dependency_unavailable` where the contact was
   * merged meanwhile, and what `demand` throws
   */
  async change(context: RequestContext, wish: PreferenceWish): Promise<ShownPreferences> {
    const { contactId, choices, readUntil } = wish;
    const subjects = await this.subjectsOf(context, contactId);
    const work = async (tx: Transaction): Promise<ShownPreferences> => {
      if (choices.length > 0 && !wish.demand) await this.demandUnmerged(tx, contactId);
      const { topics } = await this.plans.of(tx);
      const before = await this.read(tx, contactId, subjects);
      refuseUnknownTopics(choices, topics, before.objections);
      const reason = (await wish.demand?.(tx, before)) ?? null;
      for (const choice of choices) await this.choose(tx, contactId, subjects, choice);
      if (readUntil !== undefined) await this.reads.advance(tx, contactId, readUntil);
      const after = await this.read(tx, contactId, subjects);
      const changes = changesBetween(before.channels, after.channels);
      const objections = liftedBy(before.objections, choices);
      await this.journal.record(tx, context, contactId, changes, { objections, reason });
      return after;
    };
    if (choices.length === 0) return this.database.inOrganization(context, work);
    const locked = [...new Set(choices.flatMap(({ channel }) => subjects[channel]))];
    return this.gate.write(context, locked, work);
  }

  /** Under the gate's locks: a merge that is heard of later carries what is said now. Said again it is the survivor's. */
  private async demandUnmerged(tx: Transaction, contactId: string): Promise<void> {
    const ref = { organizationId: tx.organizationId, id: contactId };
    const contact = (await this.known.resolve(tx, [ref])).get(contactKey(ref));
    if (!contact || (contact.id === contactId && contact.state !== 'merged')) return;
    throw new Problem('dependency_unavailable', {
      detail: 'The contact was merged just now; try again shortly.',
    });
  }

  private async choose(
    tx: Transaction,
    contactId: string,
    subjects: Subjects,
    { channel, topic, subscribed }: Choice,
  ): Promise<void> {
    const own = contactSubject({ id: contactId });
    const others = subjects[channel].filter((subject) => subscribed === null || subject !== own);
    if (subscribed !== false) await tx.query(LIFT, [tx.organizationId, others, channel, topic]);
    if (subscribed === null) return;
    await tx.query(CHOOSE, [tx.organizationId, own, channel, topic, subscribed, this.clock.now()]);
  }

  private async read(tx: Transaction, contactId: string, subjects: Subjects): Promise<ShownPreferences> {
    const { topics } = await this.plans.of(tx);
    const all = CHANNELS.flatMap((channel) => subjects[channel]);
    const rows = await tx.query<PreferenceRow>(
      `SELECT subject, channel, topic, subscribed, updated_at FROM preferences
        WHERE organization_id = $1 AND subject = ANY($2::text[])`,
      [tx.organizationId, [...new Set(all)]],
    );
    // Keys of different channels never coincide; the contact's own rows say their channel.
    return {
      channels: preferencesFrom(rows, contactSubject({ id: contactId }), topics),
      objections: objectionsOf(rows),
      readUntil: await this.reads.until(tx, contactId),
    };
  }

  private async subjectsOf({ organizationId }: RequestContext, contactId: string): Promise<Subjects> {
    const contact = await this.contacts.find(organizationId, contactId);
    const own = contactSubject({ id: contactId });
    const entries = CHANNELS.map((channel) => {
      const text = contact ? addressOf(contact.profile, channel, null) : null;
      const address = text === null ? undefined : checkAddress(channel, text);
      return [channel, [own, ...(address ? this.keys.of(organizationId, address).own : [])]] as const;
    });
    return Object.fromEntries(entries) as Partial<Subjects> as Subjects;
  }
}

/** Lets through what takes an objection back though the settings have its topic no more. */
function refuseUnknownTopics(
  choices: readonly Choice[],
  topics: SendingPlan['topics'],
  objections: readonly Objection[],
): void {
  const errors = choices.flatMap((choice): FieldError[] => {
    const { channel, topic, subscribed } = choice;
    const known = topics.filter(({ channels }) => channels.includes(channel)).map(({ key }) => key);
    if (topic === '' || known.includes(topic)) return [];
    if (subscribed === null && liftedBy(objections, [choice]).length > 0) return [];
    const name = topic.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');
    const detail = known.length > 0 ? `One of ${known.join(', ')}.` : 'There is no topic on this channel.';
    return [{ pointer: `/channels/${channel}/topics/${name}`, code: 'unknown_field', detail }];
  });
  if (errors.length > 0) throw Problem.validation(errors);
}

function changesBetween(before: Preferences, after: Preferences): PreferenceChange[] {
  return CHANNELS.flatMap((channel) => {
    const [was, is] = [before[channel], after[channel]];
    const marketing =
      was.marketing === is.marketing ? [] : [{ channel, topic: null, subscribed: is.marketing }];
    const topics = Object.entries(is.topics)
      .filter(([topic, subscribed]) => was.topics[topic] !== subscribed)
      .map(([topic, subscribed]) => ({ channel, topic, subscribed }));
    return [...marketing, ...topics];
  });
}
