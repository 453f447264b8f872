import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, Database, isAway, isTransient } from '@customer-platform/database';
import { ApplicationPassport, Batcher, CredentialStrategy, rawBodyOf } from '@customer-platform/http';
import { pinnedFetch } from '@customer-platform/outbound';
import { Problem } from '@customer-platform/problem-json';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import { ChannelPlans, type AccountPlace } from '../../settings/channels/channel-plans.js';
import { WebhookKeys } from '../../settings/channels/webhook-keys.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import type { Account } from '../../providers/provider.js';
import { ProviderRegistry, type RegisteredWebhook } from '../../providers/provider-registry.js';
import type { WebhookCall, WebhookTools } from '../../providers/webhook.js';
import { UsedTokens } from './used-tokens.js';

/** The patience for what a webhook asks for while its caller waits: a certificate, a confirmation. */
const FETCH_MS = 5_000;
const MOST_FETCHED_BYTES = 64 * 1024;
/** While one waits for its rows another goes on. */
const READINGS_AT_ONCE = 2;

/** Whose account reports: an organization's channel, or the platform's own. */
interface Reporter {
  readonly organizationId: string | null;
  readonly channel: Channel | null;
  readonly account: Account;
}

/** A request whose route names the provider in its path. */
type ProviderRequest = IncomingMessage & { readonly params: Readonly<Record<string, string | string[]>> };

/** A call that a provider has signed for an account. */
export class ProviderCall {
  /** @param provider the name in the path */
  constructor(
    readonly provider: string,
    readonly webhook: RegisteredWebhook['webhook'],
    readonly reporter: Reporter,
    readonly call: WebhookCall,
    readonly tools: WebhookTools,
  ) {}
}

/** Signatures of providers (messaging.md §7): whose account → signature over the raw bytes. */
@Injectable()
export class ProviderSignatureStrategy extends CredentialStrategy('provider_signature') {
  /** Read for each call anew, for a secret that was replaced is not good any more; calls at once share the reading. */
  private readonly accounts = new Batcher<AccountPlace, Account | undefined>({
    run: (places) => this.database.acrossOrganizations((tx) => this.plans.accountsOf(tx, places)),
    parallel: READINGS_AT_ONCE,
    singlyAfter: (error) => !isAway(error),
    isSlow: isTransient,
  });

  private readonly tools: WebhookTools;

  constructor(
    passport: ApplicationPassport,
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly plans: ChannelPlans,
    private readonly keys: WebhookKeys,
    private readonly clock: Clock,
    private readonly providers: ProviderRegistry,
    private readonly used: UsedTokens,
  ) {
    super(passport);
    const bounds = {
      timeoutMs: FETCH_MS,
      maxAnswerBytes: MOST_FETCHED_BYTES,
      ports: config.outboundPorts,
    };
    this.tools = { fetch: pinnedFetch({ ...bounds, allowLoopback: config.local }) };
  }

  /**
   * A challenge (`GET`) is signed by nothing: what it asks for is held against the account by whoever answers it.
   * @throws Problem `not_found` for a provider there is no provider for, or that does not ask; `invalid_signature`,
   *   `stale_signature`
   */
  override async validate(request: ProviderRequest): Promise<ProviderCall> {
    const { provider = '' } = request.params;
    const registered = typeof provider === 'string' ? this.providers.webhook(provider) : undefined;
    const isChallenge = request.method !== 'POST';
    if (!registered || typeof provider !== 'string' || (isChallenge && !registered.webhook.challenge))
      throw new Problem('not_found');
    const { webhook } = registered;
    const call: WebhookCall = {
      url: `${this.config.publicUrl}${request.url ?? ''}`,
      headers: request.headers,
      body: isChallenge ? Buffer.alloc(0) : await rawBodyOf(request),
      now: this.clock.now(),
    };
    const reporter = await this.reporterOf(registered, new URL(call.url).searchParams.get('key'));
    if (!reporter) throw new Problem('invalid_signature');
    if (!isChallenge) {
      await webhook.verify(call, reporter.account, this.tools);
      if (webhook.usedOnce) await this.used.demand({ ...reporter, provider }, webhook.usedOnce(call), call);
    }
    return new ProviderCall(provider, webhook, reporter, call, this.tools);
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
