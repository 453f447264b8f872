import { Injectable } from '@nestjs/common';
import { InternalCallRefused, InternalClient } from '@customer-platform/authorization';
import { contactKey, coreDoesNotAnswer } from '@customer-platform/contact-refs';
import { Clock, Database } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactRefresh } from './contact-refresh.js';
import { ContactsRepository } from './contacts.repository.js';
import { PushTokensRepository, type Device } from './push-tokens.repository.js';

/** What happens to identities of contacts. */
export type IdentityChange = 'core.identity.added.v1' | 'core.identity.removed.v1' | 'core.identity.seen.v1';

/** The types of these events. */
export const IDENTITY_CHANGES: IdentityChange[] = [
  'core.identity.added.v1',
  'core.identity.removed.v1',
  'core.identity.seen.v1',
];

const PUSH_TOKEN = 'custom.push_token';
/** Contacts of one question: what was answered stays, should the next one not be. */
const ASKED_AT_ONCE = 250;
const TIMEOUT_MS = 500;
/** Something may be told of a contact while core is asked for it. */
const TRIES = 3;

/** What core knows of a device. */
interface AnsweredDevice {
  readonly contact_id: string;
  readonly identity_id: string;
  readonly value: string;
  readonly seen_at: string;
}

/**
 * The devices of contacts. Core's events tell of them; of a contact of whom it is not known what there is, core is
 * asked once. Never within a transaction: no connection waits for another module.
 */
@Injectable()
export class Devices {
  constructor(
    private readonly core: InternalClient,
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly refresh: ContactRefresh,
    private readonly tokens: PushTokensRepository,
    private readonly clock: Clock,
  ) {}

  /** The latest device of those of whom it is known here; null: they have none. Asks nobody. */
  async known(organizationId: string, contactIds: readonly string[]): Promise<Map<string, string | null>> {
    const contacts = contactIds.map((id) => ({ organizationId, id }));
    const found = await this.database.inOrganization({ organizationId }, (tx) =>
      this.tokens.latest(tx, contacts),
    );
    return new Map(
      contactIds.flatMap((id) => {
        const token = found.get(contactKey({ organizationId, id }));
        return token === undefined ? [] : [[id, token] as const];
      }),
    );
  }

  /**
   * The latest device of each of these active contacts; null: it has none.
   * @throws Problem `dependency_unavailable` when core has to be asked and is silent
   */
  async latest(organizationId: string, contactIds: readonly string[]): Promise<Map<string, string | null>> {
    const contacts = contactIds.map((id) => ({ organizationId, id }));
    for (let left = TRIES; left > 0; left -= 1) {
      const known = await this.database.inOrganization({ organizationId }, (tx) =>
        this.tokens.latest(tx, contacts),
      );
      const missing = contactIds.filter((id) => !known.has(contactKey({ organizationId, id })));
      const tokenOf = (id: string): string | null => known.get(contactKey({ organizationId, id })) ?? null;
      try {
        // Of whom there is nothing to learn nobody asks: the contact has ended meanwhile.
        if (missing.length === 0 || (await this.learn(organizationId, missing)) === 0)
          return new Map(contactIds.map((id) => [id, tokenOf(id)] as const));
      } catch (error) {
        if (!(error instanceof UnknownQuestion)) throw error;
        const asked = await this.askEach(organizationId, missing);
        return new Map(contactIds.map((id) => [id, asked.has(id) ? (asked.get(id) ?? null) : tokenOf(id)]));
      }
    }
    throw coreDoesNotAnswer();
  }

  /** As `latest`, of whom a send is for; null where nobody is. @throws as it */
  async ofRecipient(
    organizationId: string,
    whose: { readonly contact_id: string } | { readonly external_id: string },
  ): Promise<string | null> {
    const id = 'contact_id' in whose ? whose.contact_id : await this.idOf(organizationId, whose.external_id);
    const contact = id === undefined ? undefined : await this.refresh.find(organizationId, id);
    if (contact?.state !== 'active') return null;
    return (await this.latest(organizationId, [contact.id])).get(contact.id) ?? null;
  }

  /**
   * Asks core for the devices of those of whom they are not known.
   * @returns of how many @throws Problem `dependency_unavailable`
   */
  async learn(organizationId: string, contactIds: readonly string[]): Promise<number> {
    let count = 0;
    for (let from = 0; from < contactIds.length; from += ASKED_AT_ONCE) {
      const some = contactIds.slice(from, from + ASKED_AT_ONCE);
      const asked = await this.database.inOrganization({ organizationId }, (tx) =>
        this.tokens.unknown(tx, some),
      );
      if (asked.length === 0) continue;
      count += asked.length;
      const askedAt = this.clock.now();
      const devices = await this.ask(
        organizationId,
        asked.map(({ id }) => id),
      );
      await this.database.inOrganization({ organizationId }, (tx) =>
        this.tokens.learn(tx, asked, devices, askedAt),
      );
    }
    return count;
  }

  /** Follows core's events. One that does not say which device it is about leaves open what there is. */
  async follow(events: readonly DomainEvent<IdentityChange>[]): Promise<void> {
    const ofDevices = events.filter(({ data }) => data.type === PUSH_TOKEN);
    await this.database.forEachOrganization(
      ofDevices,
      ({ organizationid }) => organizationid,
      async (tx, own) => {
        const open = own.filter(({ type, data }) => type === 'core.identity.removed.v1' || !data.push_token);
        const asked = new Set(open.map(({ data }) => data.contact_id));
        const told = own.flatMap(({ time, data: { contact_id, identity_id, push_token } }) =>
          asked.has(contact_id) || !push_token
            ? []
            : { ...deviceOf({ contact_id, identity_id, ...push_token }), reportedAt: new Date(time) },
        );
        await this.tokens.follow(tx, told, [...asked]);
      },
    );
  }

  private async idOf(organizationId: string, externalId: string): Promise<string | undefined> {
    const ids = await this.database.inOrganization({ organizationId }, (tx) =>
      this.contacts.idsByExternalId(tx, [externalId]),
    );
    return ids.get(externalId) ?? (await this.refresh.byExternalId(organizationId, externalId));
  }

  private async ask(organizationId: string, ids: readonly string[]): Promise<Device[]> {
    try {
      const { data } = await this.core.call<{ data: AnsweredDevice[] }>('core', {
        method: 'POST',
        path: '/internal/contacts/devices',
        body: { organization_id: organizationId, ids },
        timeoutMs: TIMEOUT_MS,
      });
      return data.map(deviceOf);
    } catch (error) {
      if (error instanceof Problem) throw error;
      const status = error instanceof InternalCallRefused ? error.status : undefined;
      if (status === 404) throw new UnknownQuestion();
      // An answer that cannot be read is as good as none.
      log.error({ err: error, status }, 'Core did not answer what devices contacts have');
      throw coreDoesNotAnswer(error);
    }
  }

  /** As the release of core before this question is asked, contact by contact; nothing is taken for known. */
  private async askEach(
    organizationId: string,
    contactIds: readonly string[],
  ): Promise<Map<string, string | null>> {
    const answers = await Promise.all(
      contactIds.map(async (id) => {
        const found = await this.core.callOptional<{ address: string | null }>('core', {
          method: 'POST',
          path: '/internal/contacts/address',
          body: { organization_id: organizationId, contact_id: id, channel: 'push' },
          timeoutMs: TIMEOUT_MS,
        });
        return [id, found?.address ?? null] as const;
      }),
    );
    return new Map(answers);
  }
}

/** Core is of a release that does not know the question; goes once no such release serves any more. */
class UnknownQuestion extends Error {}

function deviceOf({ contact_id: contactId, identity_id: id, value: token, seen_at }: AnsweredDevice): Device {
  const seenAt = new Date(seen_at);
  if (typeof token !== 'string' || Number.isNaN(seenAt.getTime())) throw new TypeError('This is no device');
  return { id, contactId, token, seenAt };
}
