import { Injectable } from '@nestjs/common';
import {
  Clock,
  Database,
  type BatchedCalls,
  IdempotentCalls,
  newId,
  type Transaction,
} from '@customer-platform/database';
import { Answer, log, type RequestContext, type StoredAnswer } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { checkAddress } from '../../vocabulary/addresses/address.js';
import { AddressKeys } from '../../vocabulary/addresses/address-keys.provider.js';
import type { KeysOfAddress } from '../../vocabulary/addresses/address-keys.js';
import { domainOf, mailSender } from '../../vocabulary/senders/sender.js';
import { ContactRefresh } from '../../people/contacts/contact-refresh.js';
import { Devices } from '../../people/contacts/devices.js';
import { Tenants } from '../../background/organizations/tenants.js';
import type { PartSource } from '../../vocabulary/rendering/render-job.js';
import {
  TemplateVersions,
  type TemplateHead,
  type TemplateVersion,
} from '../../content/templates/template-versions.js';
import {
  checkTested,
  ContactUnknown,
  targetOf,
  templateFor,
  type Asked,
  type CoreWord,
  type Target,
} from './acceptance-decision.js';
import { AcceptanceReader, type AcceptanceFacts, type Objections } from './acceptance-facts.js';
import type { CreateSendDto } from './send.dto.js';
import type { NewSend } from '../../vocabulary/sends/send.js';
import { readSendRequest, type SendRequest } from './send-request.js';
import { SendsRepository } from '../../dispatch/sends/sends.repository.js';

const ROUTE = 'POST /v1/messaging/sends';

/** Tests that one address is sent, in so long. */
const MOST_TESTS = 10;
const TESTS_WITHIN_MS = 600_000;
/** For people; anybody may write it. What nobody can write is the `source_id` of a test: its template. */
const TEST_MARK = { test: true };

/** A send that is asked for. */
interface Wanted {
  readonly correlationId: string;
  readonly request: SendRequest;
  /** Compiled parts of a send without template. */
  readonly content: readonly PartSource[] | null;
  readonly asked: Asked;
  readonly readsContacts: boolean;
  /** Its own words read a contact that the caller may not: nothing new is sent so. */
  readonly withheld?: boolean;
  /** Of a test: the version it shows. It is no contact's message, whoever has the address. */
  readonly tested?: TemplateVersion;
}

/** To whom a test goes and what it is rendered from. */
interface TestSend {
  readonly address: string;
  readonly data?: Record<string, unknown>;
  readonly locale?: string;
}

/** One that nothing of its own stands against. */
interface Aimed extends Target {
  readonly wanted: Wanted;
  readonly senderDomain: string | null;
  readonly channel: SendRequest['channel'];
  readonly template: TemplateHead | undefined;
  readonly withholdsContact: boolean;
  readonly keys: KeysOfAddress | undefined;
}

/**
 * Accepts sends (messaging.md §5): check → once per key → address → suppression → store → 202. The answer is given when
 * the send is committed, with Kafka or without; the key's answer stands for ever. Sends of an organization that are
 * asked for at the same time are read about, decided on and stored together.
 */
@Injectable()
export class SendAcceptance {
  private readonly calls: BatchedCalls<Wanted>;

  constructor(
    calls: IdempotentCalls,
    private readonly database: Database,
    private readonly reader: AcceptanceReader,
    private readonly versions: TemplateVersions,
    private readonly refresh: ContactRefresh,
    private readonly devices: Devices,
    private readonly sends: SendsRepository,
    private readonly keys: AddressKeys,
    private readonly clock: Clock,
    private readonly tenants: Tenants,
  ) {
    this.calls = calls.batched((tx, wanted) => this.store(tx, wanted));
  }

  /**
   * @throws Problem `validation_failed`, `invalid_address`, `recipient_suppressed` (with `send_id`),
   * `recipient_unreachable`, `channel_not_configured`, `sender_domain_unverified`, `template_invalid`, `reference_not_found`, `reference_deleted`,
   * `permission_denied` (its own words read a contact that the caller may not), `idempotency_key_reused`, `idempotency_in_progress`
   */
  async accept(context: RequestContext, dto: CreateSendDto, key: string): Promise<Answer> {
    const { organizationId, correlationId } = context;
    this.tenants.learn(context.organization);
    const request = readSendRequest(dto, this.clock.now());
    const content = request.content
      ? await this.versions.compileLocale(organizationId, request.content, '/content')
      : null;
    const readsContacts = context.can('core.contacts.read');
    const withheld =
      content !== null && !readsContacts && (await this.versions.readsContact(organizationId, content));
    const call = { organizationId, route: ROUTE, key, body: dto, keep: 'forever' as const };
    const token = await this.askToken(context, request);
    const once = (word: CoreWord) =>
      this.calls.run(call, {
        correlationId,
        request,
        content,
        readsContacts,
        withheld,
        asked: { word, token },
      });
    const answer = await once('not asked').catch(async (error: unknown) => {
      if (!(error instanceof ContactUnknown)) throw error;
      return once(await this.askCore(context, request));
    });
    return toAnswer(answer);
  }

  /**
   * Accepts a version of a template that somebody sends to themselves. It counts for no contact.
   * @throws Problem `validation_failed`, `recipient_suppressed`, `recipient_unreachable`, `channel_not_configured`,
   * `sender_domain_unverified`, `not_found`, `resource_deleted`, `rate_limited`
   */
  async acceptTest(context: RequestContext, tested: TemplateVersion, test: TestSend): Promise<Answer> {
    this.tenants.learn(context.organization);
    const { address, ...rest } = test;
    const { channel, templateId: template_id } = tested;
    if (!checkAddress(channel, address)) throw new Problem('recipient_unreachable');
    const dto = { channel, recipient: { address }, template_id, metadata: TEST_MARK, ...rest };
    const request = readSendRequest(dto, this.clock.now());
    const asked: Asked = { word: 'not asked', token: undefined };
    const { correlationId } = context;
    const wanted: Wanted = { correlationId, request, content: null, asked, readsContacts: false, tested };
    const answer = await this.database.inOrganization(context, async (tx) => {
      await this.refuseManyTests(tx, request);
      const [stored] = await this.store(tx, [wanted]);
      if (stored === undefined || stored instanceof Error) throw stored ?? new Error('Nothing was stored');
      return stored;
    });
    return toAnswer({ ...answer, replayed: false });
  }

  /** One at a time for an address: of two at once one is refused, and no connection waits for the other. */
  private async refuseManyTests(tx: Transaction, { channel, recipient }: SendRequest): Promise<void> {
    const address = 'address' in recipient ? checkAddress(channel, recipient.address) : undefined;
    if (!address) throw new Problem('recipient_unreachable');
    const { own, current } = this.keys.of(tx.organizationId, address);
    const [lock] = await tx.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken',
      [`test of ${current}`],
    );
    if (!lock?.taken)
      throw new Problem('rate_limited', {
        detail: 'Another test is on its way.',
        headers: { 'Retry-After': '1' },
      });
    const since = new Date(this.clock.now().getTime() - TESTS_WITHIN_MS);
    const recent = await tx.query(
      `SELECT 1 FROM sends WHERE organization_id = $1 AND address_key = ANY($2::text[]) AND created_at > $3
          AND source = 'api' AND source_id IS NOT NULL LIMIT $4`,
      [tx.organizationId, own, since, MOST_TESTS],
    );
    if (recent.length < MOST_TESTS) return;
    const detail = `An address is sent at most ${MOST_TESTS} tests in ten minutes.`;
    throw new Problem('rate_limited', { detail, headers: { 'Retry-After': '60' } });
  }

  /** Stores what can be sent, and says of each what is to be answered. */
  private async store(tx: Transaction, all: readonly Wanted[]): Promise<(StoredAnswer | Error)[]> {
    const facts = await this.reader.facts(
      tx,
      all.map(({ request }) => request),
    );
    const aimed = all.map((wanted) => orRefusal(() => this.aim(tx, wanted, facts)));
    const objections = await this.reader.objections(tx, aimed.filter(isNoRefusal));
    const now = this.clock.now();
    const sends = aimed.map((one) =>
      one instanceof Error ? one : orRefusal(() => sendOf(tx, one, objections, now)),
    );
    await this.sends.add(tx, sends.filter(isNoRefusal), now);
    return sends.map((send) => (send instanceof Error ? send : answerOf(send)));
  }

  private aim({ organizationId }: Transaction, wanted: Wanted, facts: AcceptanceFacts): Aimed {
    const { request, asked } = wanted;
    if (request.refusedAnew.length > 0) throw Problem.validation([...request.refusedAnew]);
    if (wanted.withheld) throw contactWithheld();
    const { tested } = wanted;
    if (tested) checkTested(request, tested, facts);
    const published = tested ? undefined : templateFor(request, facts);
    const template = tested ?? published;
    // A test has no contact.
    const withholdsContact = !tested && !wanted.readsContacts && published?.byReader !== true;
    const found = targetOf(request, asked, facts);
    const target = tested ? { ...found, contactId: null } : found;
    const keys = target.address && this.keys.of(organizationId, target.address);
    const sender = mailSender(request, facts.plan);
    const senderDomain = sender ? domainOf(sender) : null;
    return { ...target, wanted, senderDomain, channel: request.channel, template, withholdsContact, keys };
  }

  /** Of a push to a contact: outside of any transaction, for core may have to be asked. */
  private async askToken(
    { organizationId }: RequestContext,
    { channel, recipient }: SendRequest,
  ): Promise<string | null | undefined> {
    if (channel !== 'push' || 'address' in recipient) return undefined;
    try {
      return await this.devices.ofRecipient(organizationId, recipient);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'dependency_unavailable') throw error;
      log.warn({ err: error }, 'Core does not answer; the device is looked up later');
      return undefined;
    }
  }

  private async askCore(context: RequestContext, { recipient }: SendRequest): Promise<CoreWord> {
    try {
      if ('contact_id' in recipient) await this.refresh.find(context.organizationId, recipient.contact_id);
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

/** @throws Problem `recipient_unreachable`: the contact is about to be purged */
function sendOf(tx: Transaction, aimed: Aimed, objections: Objections, now: Date): NewSend {
  const { wanted, template, keys, address } = aimed;
  const { request, content, correlationId } = wanted;
  const held = aimed.contactId !== null && objections.held(aimed.contactId);
  if (held && !('address' in request.recipient)) throw new Problem('recipient_unreachable');
  const suppressed = objections.suppressed(aimed);
  return {
    organizationId: tx.organizationId,
    id: newId(),
    channel: request.channel,
    state: suppressed ? 'suppressed' : 'accepted',
    reason: suppressed ? 'recipient_suppressed' : null,
    category: request.category,
    topic: request.topic,
    contactId: held ? null : aimed.contactId,
    recipient: request.recipient,
    address: address?.delivery ?? null,
    addressKey: keys?.current ?? null,
    sender: request.sender,
    senderDomain: aimed.senderDomain,
    templateId: request.templateId,
    templateVersion: template?.version ?? null,
    locale: request.locale,
    source: 'api',
    sourceId: wanted.tested?.templateId ?? null,
    runId: null,
    eventId: null,
    campaignId: null,
    metadata: request.metadata,
    correlationId,
    dueAt: suppressed ? null : (request.notBefore ?? now),
    expiresAt: request.expiresAt,
    data: request.data,
    event: null,
    content,
    withholdsContact: aimed.withholdsContact,
  };
}

function contactWithheld(): Problem {
  const permission = 'core.contacts.read';
  const detail = `\`content\` reads the contact: that needs \`${permission}\`, or a template that somebody with it has published.`;
  return new Problem('permission_denied', { detail, members: { permission } });
}

function answerOf({ id, state }: NewSend): StoredAnswer {
  return { status: state === 'suppressed' ? 422 : 202, headers: {}, body: { send_id: id, state } };
}

/** A refusal of one send is no failure of those beside it. */
function orRefusal<T>(decide: () => T): T | Error {
  try {
    return decide();
  } catch (error) {
    if (error instanceof Problem || error instanceof ContactUnknown) return error;
    throw error;
  }
}

function isNoRefusal<T extends object>(one: T | Error): one is T {
  return !(one instanceof Error);
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
