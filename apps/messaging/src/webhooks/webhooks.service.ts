import type { IncomingHttpHeaders } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, Database, isDatabaseUnavailable } from '@customer-platform/database';
import { Batcher } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { Channel } from '../addresses/channel.js';
import { ChannelPlans, type SecretPlace } from '../channels/channel-plans.js';
import { WebhookKeys } from '../channels/webhook-keys.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../messaging.config.js';
import { ADAPTERS } from './adapters.js';
import { ProviderReports } from './provider-reports.service.js';
import type { WebhookAdapter, WebhookCall } from './webhook-call.js';

/** A call, with its target as it came on the wire. */
export interface IncomingCall {
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Whose account reports: an organization's channel, or the platform's own. */
interface Account {
  readonly organizationId: string | null;
  readonly channel: Channel | null;
  readonly secret: string;
}

/** Reports of providers (messaging.md §7): whose account → signature over the raw bytes → read → take. */
@Injectable()
export class WebhooksService {
  /** Read for each call anew, for a secret that was replaced is not good any more; calls at once share the reading. */
  private readonly secrets = new Batcher<SecretPlace, string | undefined>({
    run: (places) => this.database.acrossOrganizations((tx) => this.plans.secretsOf(tx, places)),
    singlyAfter: (error) => !isDatabaseUnavailable(error),
  });

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly plans: ChannelPlans,
    private readonly keys: WebhookKeys,
    private readonly reports: ProviderReports,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns how many reports the call brought
   * @throws Problem `not_found` for a provider there is no adapter for, `invalid_signature`, `stale_signature`,
   * `malformed_json`, `validation_failed`
   */
  async take(provider: string, incoming: IncomingCall, correlationId: string): Promise<number> {
    const adapter = ADAPTERS.get(provider);
    if (!adapter) throw new Problem('not_found');
    const { target, headers, body } = incoming;
    const call: WebhookCall = {
      url: `${this.config.publicUrl}${target}`,
      headers,
      body,
      now: this.clock.now(),
    };
    const account = await this.accountOf(adapter, new URL(call.url).searchParams.get('key'));
    if (!account) throw new Problem('invalid_signature');
    adapter.verify(call, account.secret);
    const reports = adapter.read(call);
    const { organizationId, channel } = account;
    await this.reports.take(reports, { organizationId, channel, provider, correlationId });
    return reports.length;
  }

  /** Undefined where nobody has such an account: told apart from a wrong signature by nothing. */
  private async accountOf(adapter: WebhookAdapter, key: string | null): Promise<Account | undefined> {
    if (key === null) {
      const secret = adapter.of === 'http' ? this.config.platformProvider?.secret : undefined;
      return secret === undefined ? undefined : { organizationId: null, channel: null, secret };
    }
    const named = this.keys.read(key);
    if (!named) return undefined;
    const secret = await this.secrets.add({ ...named, provider: adapter.of });
    return secret === undefined ? undefined : { ...named, secret };
  }
}
