import type { IncomingHttpHeaders } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, Database, isDatabaseUnavailable } from '@customer-platform/database';
import { Batcher } from '@customer-platform/http';
import { pinnedFetch } from '@customer-platform/outbound';
import { Problem } from '@customer-platform/problem-json';
import type { Channel } from '../addresses/channel.js';
import { ChannelPlans, type AccountPlace } from '../channels/channel-plans.js';
import { WebhookKeys } from '../channels/webhook-keys.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../messaging.config.js';
import type { Account } from '../providers/provider.js';
import { ProviderRegistry, type RegisteredWebhook } from '../providers/provider-registry.js';
import type { WebhookCall, WebhookTools } from '../providers/webhook.js';
import { UsedTokens } from './used-tokens.js';
import { ProviderReports } from './provider-reports.service.js';

/** In one call; providers pack a few dozen. */
const MOST_REPORTS = 1_000;
/** Of what a webhook asks for while its caller waits: a certificate, a confirmation. */
const FETCH_MS = 5_000;
const MOST_FETCHED_BYTES = 64 * 1024;

/** A call, with its target as it came on the wire. */
interface IncomingCall {
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Whose account reports: an organization's channel, or the platform's own. */
interface Reporter {
  readonly organizationId: string | null;
  readonly channel: Channel | null;
  readonly account: Account;
}

/** Reports of providers (messaging.md §7): whose account → signature over the raw bytes → read → take. */
@Injectable()
export class WebhooksService {
  /** Read for each call anew, for a secret that was replaced is not good any more; calls at once share the reading. */
  private readonly accounts = new Batcher<AccountPlace, Account | undefined>({
    run: (places) => this.database.acrossOrganizations((tx) => this.plans.accountsOf(tx, places)),
    singlyAfter: (error) => !isDatabaseUnavailable(error),
  });

  private readonly tools: WebhookTools;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly plans: ChannelPlans,
    private readonly keys: WebhookKeys,
    private readonly reports: ProviderReports,
    private readonly clock: Clock,
    private readonly providers: ProviderRegistry,
    private readonly used: UsedTokens,
  ) {
    const bounds = {
      timeoutMs: FETCH_MS,
      maxAnswerBytes: MOST_FETCHED_BYTES,
      ports: config.outboundPorts,
    };
    this.tools = { fetch: pinnedFetch({ ...bounds, allowLoopback: config.local }) };
  }

  /**
   * @returns how many reports the call brought
   * @throws Problem `not_found` for a provider there is no provider for, `invalid_signature`, `stale_signature`,
   * `malformed_json`, `validation_failed`
   */
  async take(provider: string, incoming: IncomingCall, correlationId: string): Promise<number> {
    const registered = this.providers.webhook(provider);
    if (!registered) throw new Problem('not_found');
    const { target, headers, body } = incoming;
    const call: WebhookCall = {
      url: `${this.config.publicUrl}${target}`,
      headers,
      body,
      now: this.clock.now(),
    };
    const reporter = await this.reporterOf(registered, new URL(call.url).searchParams.get('key'));
    if (!reporter) throw new Problem('invalid_signature');
    const { webhook } = registered;
    const { organizationId, channel, account } = reporter;
    await webhook.verify(call, account, this.tools);
    if (webhook.usedOnce) await this.used.demand({ ...reporter, provider }, webhook.usedOnce(call), call);
    await webhook.confirm?.(call, account, this.tools);
    const reports = webhook.read(call, account);
    if (reports.length > MOST_REPORTS) throw tooMany();
    await this.reports.take(reports, { organizationId, channel, provider, correlationId });
    return reports.length;
  }

  /**
   * The answer to a provider that asks whether this is the address it is to report to.
   * @throws Problem `not_found` for a provider that does not ask, `invalid_signature`
   */
  async answerChallenge(provider: string, target: string): Promise<string> {
    const registered = this.providers.webhook(provider);
    const { challenge } = registered?.webhook ?? {};
    if (!registered || !challenge) throw new Problem('not_found');
    const query = new URL(target, this.config.publicUrl).searchParams;
    const reporter = await this.reporterOf(registered, query.get('key'));
    if (!reporter) throw new Problem('invalid_signature');
    return challenge(query, reporter.account);
  }

  /** Undefined where nobody has such an account: told apart from a wrong signature by nothing. */
  private async reporterOf(
    { provider }: RegisteredWebhook,
    key: string | null,
  ): Promise<Reporter | undefined> {
    if (key === null) {
      const account = provider.ofPlatform?.(this.plans.platform);
      return account && { organizationId: null, channel: null, account };
    }
    const named = this.keys.read(key);
    if (!named) return undefined;
    const account = await this.accounts.add({ ...named, provider: provider.name });
    return account && { ...named, account };
  }
}

function tooMany(): Problem {
  return Problem.validation([
    { pointer: '', code: 'too_long', detail: `At most ${MOST_REPORTS} reports in a call.` },
  ]);
}
