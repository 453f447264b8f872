import { Injectable } from '@nestjs/common';
import type { ContactId } from '@customer-platform/contact-refs';
import { Database, type WorkerTransaction } from '@customer-platform/database';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import { contactSubject } from '../../vocabulary/contacts/contact.js';
import { ChannelPlans, type SendingPlan } from '../../settings/channels/channel-plans.js';
import { mailSender } from '../../vocabulary/senders/sender.js';
import { ConsentsRepository, type ConsentStatus } from '../../people/contacts/consents.repository.js';
import {
  VerifiedSenders,
  type KnownSenders,
  type OwnedSender,
  type VerifiedDomain,
} from '../../settings/sender-domains/verified-senders.js';
import {
  TemplateVersions,
  versionKey,
  type TemplateVersion,
  type VersionId,
} from '../../content/templates/template-versions.js';
import { CarriedRights } from './carried-rights.js';
import type { ClaimedSend } from './claimed-send.js';
import type { Standing } from '../../background/makers/maker-rights.js';
import { Recipients, type ResolvedRecipient } from './recipients.js';

/** From where a mail leaves. */
interface MailOrigin {
  /** Whether it may. */
  readonly permitted: boolean;
  /** By whose keys it is signed; undefined: it is not. */
  readonly domain: VerifiedDomain | undefined;
}

/** Everything the checks need to know of a batch, read at once. */
export interface BatchFacts {
  recipient(send: ClaimedSend): ResolvedRecipient;
  plan(send: ClaimedSend): SendingPlan | undefined;
  suspended(send: ClaimedSend): boolean;
  /** Whom a mail is from, and by whose keys it is signed; undefined of other channels. */
  sender(send: ClaimedSend): MailOrigin | undefined;
  /** With its rule or campaign. */
  isCanceled(send: ClaimedSend): boolean;
  /** By whose rights it leaves; undefined where somebody asked for this very send. */
  standing(send: ClaimedSend): Standing | 'unknown' | undefined;
  /** By whose rights messages of the organization leave the platform; undefined by the platform's own channels. */
  channelStanding(send: ClaimedSend): Standing | 'unknown' | undefined;
  template(send: ClaimedSend): TemplateVersion | undefined;
  /** For marketing to this contact on the send's channel. */
  consent(contact: ContactId, channel: Channel): ConsentStatus | undefined;
  /** Whether the contact asked for a topic that nobody gets unasked. */
  chose(contact: ContactId, channel: Channel, topic: string): boolean;
}

/** Reads the facts of a batch: two short transactions, whatever its size. */
@Injectable()
export class BatchReader {
  constructor(
    private readonly database: Database,
    private readonly recipients: Recipients,
    private readonly plans: ChannelPlans,
    private readonly consents: ConsentsRepository,
    private readonly versions: TemplateVersions,
    private readonly senders: VerifiedSenders,
    private readonly rights: CarriedRights,
  ) {}

  /** @param options.keeps false: nothing is noted of makers who are found on the way */
  async read(sends: readonly ClaimedSend[], { keeps = true } = {}): Promise<BatchFacts> {
    const recipients = await this.recipients.resolve(sends);
    const contacts = contactsOf(sends, recipients);
    const { sources, plans, ...facts } = await this.database.acrossOrganizations(
      async (tx) => {
        const organizations = [...new Set(sends.map((send) => send.organizationId))];
        const plans = await this.plans.ofAll(tx, organizations);
        const senderOf = (send: ClaimedSend): OwnedSender | undefined => {
          const plan = plans.get(send.organizationId);
          const sender = plan && mailSender(send, plan);
          return sender && { organizationId: send.organizationId, sender };
        };
        const senders = await this.senders.of(
          tx,
          sends.flatMap((send) => senderOf(send) ?? []),
        );
        const suspended = await suspendedAmong(tx, organizations);
        const sources = await this.rights.sources(tx, sends);
        const versions = await this.versions.inLocales(tx, templatesOf(sends, recipients));
        const consent = await this.consents.marketing(tx, contacts, [
          ...new Set(sends.map((send) => send.channel)),
        ]);
        const chosen = await chosenTopics(tx, contacts);
        return {
          sources,
          plans,
          recipient: (send: ClaimedSend): ResolvedRecipient => recipients.get(send.id) ?? { kind: 'nobody' },
          plan: (send: ClaimedSend) => plans.get(send.organizationId),
          sender: (send: ClaimedSend) => originOf(senderOf(send), senders),
          suspended: (send: ClaimedSend) => suspended.has(send.organizationId),
          isCanceled: (send: ClaimedSend) => sources.isCanceled(send),
          template: (send: ClaimedSend) =>
            versions.get(versionKey(send.organizationId, send.templateId ?? '', send.templateVersion ?? 0)),
          consent,
          chose: (contact: ContactId, channel: Channel, topic: string) =>
            chosen.has(choiceKey(contact, channel, topic)),
        };
      },
      { onePlan: true },
    );
    const standings = await this.rights.standings(sends, sources, keeps);
    const channels = await this.rights.ofChannels(plans.values(), keeps);
    return {
      ...facts,
      standing: (send) => standings.get(send.id),
      channelStanding: (send) => channels.get(send.organizationId),
    };
  }
}

function originOf(owned: OwnedSender | undefined, senders: KnownSenders): MailOrigin | undefined {
  return owned && { permitted: senders.permits(owned), domain: senders.domainOf(owned) };
}

function contactsOf(
  sends: readonly ClaimedSend[],
  recipients: ReadonlyMap<string, ResolvedRecipient>,
): ContactId[] {
  return sends.flatMap((send) => {
    const recipient = recipients.get(send.id);
    if (send.category === 'transactional' || recipient?.kind !== 'found' || !recipient.contact) return [];
    return [{ organizationId: send.organizationId, id: recipient.contact.id }];
  });
}

/** In the languages of those they go to. */
function templatesOf(
  sends: readonly ClaimedSend[],
  recipients: ReadonlyMap<string, ResolvedRecipient>,
): (VersionId & { readonly wishes: ReadonlySet<string | null | undefined> })[] {
  const wanted = new Map<string, VersionId & { readonly wishes: Set<string | null | undefined> }>();
  for (const { id, organizationId, templateId, templateVersion: version, locale } of sends) {
    if (templateId === null || version === null) continue;
    const key = versionKey(organizationId, templateId, version);
    const one = wanted.get(key) ?? { organizationId, templateId, version, wishes: new Set() };
    const recipient = recipients.get(id);
    one.wishes.add(locale);
    if (recipient?.kind === 'found') one.wishes.add(recipient.contact?.profile.locale);
    wanted.set(key, one);
  }
  return [...wanted.values()];
}

/** Those of the organizations that are suspended, in a worker's transaction. */
export async function suspendedAmong(
  tx: WorkerTransaction,
  organizationIds: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.prepared<{ organization_id: string }>(
    `SELECT organization_id FROM organizations WHERE organization_id = ANY($1::uuid[]) AND status = 'suspended'`,
    [organizationIds],
  );
  return new Set(rows.map((row) => row.organization_id));
}

async function chosenTopics(tx: WorkerTransaction, contacts: readonly ContactId[]): Promise<Set<string>> {
  if (contacts.length === 0) return new Set();
  const rows = await tx.prepared<{
    organization_id: string;
    subject: string;
    channel: string;
    topic: string;
  }>(
    `SELECT organization_id, subject, channel, topic FROM preferences
     WHERE (organization_id, subject) IN (SELECT * FROM unnest($1::uuid[], $2::text[])) AND subscribed`,
    [contacts.map(({ organizationId }) => organizationId), contacts.map(contactSubject)],
  );
  return new Set(rows.map((row) => `${row.organization_id}/${row.subject}/${row.channel}/${row.topic}`));
}

function choiceKey(contact: ContactId, channel: string, topic: string): string {
  return `${contact.organizationId}/${contactSubject(contact)}/${channel}/${topic}`;
}
