import { Injectable } from '@nestjs/common';
import { contactKey } from '@customer-platform/contact-refs';
import { ReferenceHolds, type Transaction } from '@customer-platform/database';
import { checkAddress, type CheckedAddress } from '../../vocabulary/addresses/address.js';
import type { KeysOfAddress } from '../../vocabulary/addresses/address-keys.js';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import { ChannelPlans, type SendingPlan } from '../../settings/channels/channel-plans.js';
import { mailSender, type Sender } from '../../vocabulary/senders/sender.js';
import type { Contact } from '../../vocabulary/contacts/contact.js';
import { ContactsRepository } from '../../people/contacts/contacts.repository.js';
import { VerifiedSenders } from '../../settings/sender-domains/verified-senders.js';
import { SuppressionsRepository } from '../../people/suppressions/suppressions.repository.js';
import {
  TemplateVersions,
  versionKey,
  type PublishedHead,
} from '../../content/templates/template-versions.js';
import type { NamedRecipient } from '../../vocabulary/sends/send.js';
import type { SendRequest } from './send-request.js';

/** A template as far as a send needs to know it. */
interface TemplateState {
  readonly deleted: boolean;
  /** Undefined: none is published. */
  readonly version: PublishedHead | undefined;
}

/** What a message says, and by which channel. */
export type Content = Pick<SendRequest, 'channel' | 'sender' | 'templateId' | 'topic' | 'data'>;

/** What is known of how messages are made and sent, whoever gets them. */
export interface ContentFacts {
  readonly plan: SendingPlan;
  template(id: string): TemplateState | undefined;
  /** Whether mail may leave from there. */
  maySendFrom(sender: Sender): boolean;
}

/** What is known of the sends that one organization asks for at the same time. */
export interface AcceptanceFacts extends ContentFacts {
  /** The contact a send is asked for, its survivor if it was merged; undefined while this module knows none. */
  contact(recipient: NamedRecipient): Contact | undefined;
  /** The one active contact that has the address. */
  owner(address: CheckedAddress): string | undefined;
}

/** A send whose recipient is known, as far as it can be. */
interface Aimed {
  readonly channel: Channel;
  readonly contactId: string | null;
  readonly keys: KeysOfAddress | undefined;
}

/** What stands against sends at the moment of their acceptance. */
export interface Objections {
  /** A contact that core is about to purge was soft-deleted there, whether or not that is known here yet. */
  held(contactId: string): boolean;
  suppressed(aimed: Aimed): boolean;
}

const TEMPLATES = `
  SELECT id, published_version, deleted_at FROM templates
   WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND kind = 'message'
   ORDER BY id FOR KEY SHARE`;

interface TemplateRow {
  id: string;
  published_version: number | null;
  deleted_at: Date | null;
}

/** Reads what acceptance needs to know, in as many statements for many sends as for one. */
@Injectable()
export class AcceptanceReader {
  constructor(
    private readonly plans: ChannelPlans,
    private readonly versions: TemplateVersions,
    private readonly contacts: ContactsRepository,
    private readonly suppressions: SuppressionsRepository,
    private readonly holds: ReferenceHolds,
    private readonly senders: VerifiedSenders,
  ) {}

  /** The templates stay as they are until the transaction ends. */
  async content(tx: Transaction, requests: readonly Content[]): Promise<ContentFacts> {
    const plan = await this.plans.of(tx);
    const { organizationId } = tx;
    const senders = requests.flatMap((request) => mailSender(request, plan) ?? []);
    const permits = await this.senders.check(
      tx,
      senders.map((sender) => ({ organizationId, sender })),
    );
    const templates = await this.templates(tx, distinct(requests.flatMap((one) => one.templateId ?? [])));
    return {
      plan,
      template: (id) => templates.get(id),
      maySendFrom: (sender) => permits({ organizationId, sender }),
    };
  }

  async facts(tx: Transaction, requests: readonly SendRequest[]): Promise<AcceptanceFacts> {
    const content = await this.content(tx, requests);
    const { organizationId } = tx;
    const recipients = requests.map(({ recipient }) => recipient);
    const byExternalId = await this.contacts.idsByExternalId(tx, distinct(recipients.flatMap(externalIdOf)));
    const idOf = (recipient: NamedRecipient): string | undefined =>
      'contact_id' in recipient
        ? recipient.contact_id
        : externalIdOf(recipient).map((id) => byExternalId.get(id))[0];
    const ids = distinct(recipients.flatMap((recipient) => idOf(recipient) ?? []));
    const contacts = await this.contacts.resolve(
      tx,
      ids.map((id) => ({ organizationId, id })),
    );
    const owners = await this.contacts.owners(tx, requests.flatMap(addressOf));
    return {
      ...content,
      contact: (recipient) => {
        const id = idOf(recipient);
        return id === undefined ? undefined : contacts.get(contactKey({ organizationId, id }));
      },
      owner: (address) => owners(address),
    };
  }

  /** To be asked in the transaction that writes the sends, before it does. */
  async objections(tx: Transaction, aimed: readonly Aimed[]): Promise<Objections> {
    const contactIds = distinct(aimed.flatMap(({ contactId }) => contactId ?? []));
    const held = await this.holds.held(tx, 'core.contacts', contactIds);
    const blocked = await this.suppressions.blocking(
      tx,
      aimed.flatMap(({ channel, keys }) => (keys ? [{ channel, keys: keys.blocking }] : [])),
    );
    return {
      held: (contactId) => held.has(contactId),
      suppressed: ({ channel, keys }) => keys?.blocking.some((key) => blocked(channel, key)) ?? false,
    };
  }

  private async templates(tx: Transaction, ids: readonly string[]): Promise<Map<string, TemplateState>> {
    if (ids.length === 0) return new Map();
    const { organizationId } = tx;
    const rows = await tx.prepared<TemplateRow>(TEMPLATES, [organizationId, ids]);
    const versions = await this.versions.heads(
      tx,
      rows.flatMap(({ id, published_version: version }) =>
        version === null ? [] : [{ organizationId, templateId: id, version }],
      ),
    );
    return new Map(
      rows.map(({ id, published_version: version, deleted_at }) => [
        id,
        {
          deleted: deleted_at !== null,
          version: version === null ? undefined : versions.get(versionKey(organizationId, id, version)),
        },
      ]),
    );
  }
}

function externalIdOf(recipient: NamedRecipient): string[] {
  return 'external_id' in recipient ? [recipient.external_id] : [];
}

function addressOf({ channel, recipient }: SendRequest): CheckedAddress[] {
  const address = 'address' in recipient ? checkAddress(channel, recipient.address) : undefined;
  return address ? [address] : [];
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}
