import { Injectable } from '@nestjs/common';
import { Clock, IdempotentCalls, newId, ReferenceHolds, type Transaction } from '@customer-platform/database';
import { Answer, log, type RequestContext, type StoredAnswer } from '@customer-platform/http';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { AddressKeys } from '../addresses/address-keys.provider.js';
import { checkAddress, type CheckedAddress } from '../addresses/address.js';
import { ChannelPlans } from '../channels/channel-plans.js';
import { ContactRefresh } from '../contacts/contact-refresh.js';
import { addressOf } from '../contacts/contact.js';
import { contactKey, ContactsRepository } from '../contacts/contacts.repository.js';
import type { PartSource } from '../rendering/render-job.js';
import { checkTopic } from '../routing/check-rule.js';
import { SuppressionsRepository } from '../suppressions/suppressions.repository.js';
import { completeData } from '../templates/template-data.js';
import { TemplateVersions, type TemplateVersion } from '../templates/template-versions.js';
import type { CreateSendDto } from './send.dto.js';
import type { NewSend } from './send.js';
import { readSendRequest, type SendRequest } from './send-request.js';
import { SendsRepository } from './sends.repository.js';

const ROUTE = 'POST /v1/messaging/sends';

/** The contact is not known here: core has to be asked, and no transaction may be open meanwhile. */
class ContactUnknown extends Error {}

/** What core said when it was asked. */
type CoreWord = 'not asked' | 'asked' | 'silent';

/** What core knows beyond its events: a device's token, null without one, undefined while core is silent. */
interface Asked {
  readonly word: CoreWord;
  readonly token: string | null | undefined;
}

/** What is to be stored. */
interface Wanted {
  readonly request: SendRequest;
  readonly content: readonly PartSource[] | null;
  readonly asked: Asked;
}

/** To whom a send goes, as far as is known at acceptance. */
interface Target {
  readonly contactId: string | null;
  readonly address: CheckedAddress | undefined;
}

/**
 * Accepts sends (messaging.md §5): check → once per key → address → suppression → store → 202. The answer is given when
 * the send is committed, with Kafka or without; the key's answer stands for ever.
 */
@Injectable()
export class SendAcceptance {
  constructor(
    private readonly calls: IdempotentCalls,
    private readonly plans: ChannelPlans,
    private readonly versions: TemplateVersions,
    private readonly contacts: ContactsRepository,
    private readonly refresh: ContactRefresh,
    private readonly suppressions: SuppressionsRepository,
    private readonly sends: SendsRepository,
    private readonly keys: AddressKeys,
    private readonly holds: ReferenceHolds,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws Problem `validation_failed`, `invalid_address`, `recipient_suppressed` (with `send_id`),
   * `recipient_unreachable`, `channel_not_configured`, `template_invalid`, `reference_not_found`, `reference_deleted`,
   * `idempotency_key_reused`, `idempotency_in_progress`
   */
  async accept(context: RequestContext, dto: CreateSendDto, key: string): Promise<Answer> {
    const request = readSendRequest(dto, this.clock.now());
    const content = request.content ? await this.versions.compileLocale(request.content, '/content') : null;
    const call = {
      organizationId: context.organizationId,
      route: ROUTE,
      key,
      body: dto,
      keep: 'forever' as const,
    };
    const token = await this.askToken(context, request);
    const once = (word: CoreWord) =>
      this.calls.run(call, (tx) => this.store(tx, context, { request, content, asked: { word, token } }));
    const answer = await once('not asked').catch(async (error: unknown) => {
      if (!(error instanceof ContactUnknown)) throw error;
      return once(await this.askCore(context, request));
    });
    return toAnswer(answer);
  }

  private async store(
    tx: Transaction,
    context: RequestContext,
    { request, content, asked }: Wanted,
  ): Promise<StoredAnswer> {
    const template = await this.check(tx, request);
    const target = await this.withoutHeld(tx, request, await this.targetOf(tx, request, asked));
    const keys = target.address && this.keys.of(context.organizationId, target.address);
    const suppressed = keys ? await this.suppressions.blocks(tx, request.channel, keys.blocking) : false;
    const now = this.clock.now();
    const send: NewSend = {
      organizationId: context.organizationId,
      id: newId(),
      channel: request.channel,
      state: suppressed ? 'suppressed' : 'accepted',
      reason: suppressed ? 'recipient_suppressed' : null,
      category: request.category,
      topic: request.topic,
      contactId: target.contactId,
      recipient: request.recipient,
      address: target.address?.delivery ?? null,
      addressKey: keys?.current ?? null,
      sender: request.sender,
      templateId: request.templateId,
      templateVersion: template?.version ?? null,
      locale: request.locale,
      source: 'api',
      sourceId: null,
      eventId: null,
      metadata: request.metadata,
      correlationId: context.correlationId,
      dueAt: suppressed ? null : (request.notBefore ?? now),
      expiresAt: request.expiresAt,
      data: request.data,
      event: null,
      content,
    };
    await this.sends.add(tx, [send], now);
    return { status: suppressed ? 422 : 202, headers: {}, body: { send_id: send.id, state: send.state } };
  }

  /** What the settings and the template have to say. */
  private async check(tx: Transaction, request: SendRequest): Promise<TemplateVersion | undefined> {
    const plan = await this.plans.of(tx);
    if (!plan.channels[request.channel]) throw new Problem('channel_not_configured');
    if (request.topic !== null) await checkTopic(tx, this.plans, request.topic, request.channel);
    if (request.templateId === null) return undefined;
    const template = await this.published(tx, request.templateId);
    if (template.channel !== request.channel) {
      throw refusal({
        pointer: '/template_id',
        code: 'not_allowed',
        detail: `The template is of the channel ${template.channel}.`,
      });
    }
    const { errors } = completeData(template.variables, request.data);
    if (errors.length > 0) throw Problem.validation(errors);
    return template;
  }

  private async published(tx: Transaction, id: string): Promise<TemplateVersion> {
    const [row] = await tx.query<{ published_version: number | null; deleted_at: Date | null }>(
      'SELECT published_version, deleted_at FROM templates WHERE organization_id = $1 AND id = $2 FOR KEY SHARE',
      [tx.organizationId, id],
    );
    const pointer = '/template_id';
    if (!row) throw refusal({ pointer, code: 'reference_not_found', detail: 'There is no such template.' });
    if (row.deleted_at)
      throw refusal({ pointer, code: 'reference_deleted', detail: 'The template is deleted.' });
    const version = row.published_version && (await this.versions.find(tx, id, row.published_version));
    if (!version)
      throw refusal({ pointer, code: 'template_invalid', detail: 'The template has no published version.' });
    return version;
  }

  private async targetOf(tx: Transaction, request: SendRequest, { word, token }: Asked): Promise<Target> {
    const { recipient, channel } = request;
    if ('address' in recipient) {
      const address = checkAddress(channel, recipient.address);
      const contactId = address && (await this.contacts.idByAddress(tx, channel, address.canonical));
      return { contactId: contactId ?? null, address };
    }
    const contact = await this.find(tx, recipient);
    if (!contact) {
      if (word === 'not asked') throw new ContactUnknown();
      // Core is silent: the dispatcher asks again, for 15 minutes.
      if (word === 'silent')
        return { contactId: 'contact_id' in recipient ? recipient.contact_id : null, address: undefined };
      throw new Problem('recipient_unreachable');
    }
    if (channel === 'push' && token === undefined) return { contactId: contact.id, address: undefined };
    const known = channel === 'push' ? (token ?? null) : addressOf(contact.profile, channel);
    const text = contact.state === 'active' ? known : null;
    const address = text === null ? undefined : checkAddress(channel, text);
    if (!address) throw new Problem('recipient_unreachable');
    return { contactId: contact.id, address };
  }

  /** A contact that core is about to purge was soft-deleted there, whether or not that is known here yet. */
  private async withoutHeld(tx: Transaction, { recipient }: SendRequest, target: Target): Promise<Target> {
    if (target.contactId === null) return target;
    const held = await this.holds.held(tx, 'core.contacts', [target.contactId]);
    if (held.size === 0) return target;
    if ('address' in recipient) return { ...target, contactId: null };
    throw new Problem('recipient_unreachable');
  }

  private async find(tx: Transaction, recipient: SendRequest['recipient']) {
    const id = 'contact_id' in recipient ? recipient.contact_id : await this.externalId(tx, recipient);
    if (id === undefined) return undefined;
    const ref = { organizationId: tx.organizationId, id };
    return (await this.contacts.resolve(tx, [ref])).get(contactKey(ref));
  }

  private async externalId(
    tx: Transaction,
    recipient: SendRequest['recipient'],
  ): Promise<string | undefined> {
    return 'external_id' in recipient ? this.contacts.idByExternalId(tx, recipient.external_id) : undefined;
  }

  /** Of a push to a contact: outside of any transaction, as everything that is asked of core. */
  private async askToken(
    { organizationId }: RequestContext,
    { channel, recipient }: SendRequest,
  ): Promise<string | null | undefined> {
    if (channel !== 'push' || 'address' in recipient) return undefined;
    try {
      return await this.refresh.pushToken(organizationId, recipient);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'dependency_unavailable') throw error;
      log.warn({ err: error }, 'Core does not answer; the device is looked up later');
      return undefined;
    }
  }

  private async askCore(context: RequestContext, { recipient }: SendRequest): Promise<CoreWord> {
    try {
      if ('contact_id' in recipient) await this.refresh.byIds(context.organizationId, [recipient.contact_id]);
      if ('external_id' in recipient)
        await this.refresh.byExternalId(context.organizationId, recipient.external_id);
      return 'asked';
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'dependency_unavailable') throw error;
      log.warn({ err: error }, 'Core does not answer; the recipient is resolved later');
      return 'silent';
    }
  }
}

function toAnswer(answer: { status: number; body: unknown; replayed: boolean }): Answer {
  const body = answer.body as { send_id: string; state: string };
  const headers: Record<string, string> = answer.replayed ? { 'Idempotent-Replay': 'true' } : {};
  if (answer.status !== 422) return new Answer(body, headers, answer.status);
  throw new Problem('recipient_suppressed', {
    headers,
    members: { send_id: body.send_id, state: body.state },
  });
}

function refusal(error: FieldError): Problem {
  return Problem.validation([error]);
}
