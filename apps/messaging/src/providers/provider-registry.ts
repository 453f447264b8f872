import { BUILT_IN } from './built-in.js';
import type { Channel } from '../vocabulary/addresses/channel.js';
import type { Account, Provider } from './provider.js';
import type { Webhook } from './webhook.js';

/** A webhook with the provider it is of. */
export interface RegisteredWebhook {
  readonly provider: Provider;
  readonly webhook: Webhook<Account>;
}

/** The providers there are. */
export class ProviderRegistry {
  private readonly byName = new Map<string, Provider>();
  private readonly byPath = new Map<string, RegisteredWebhook>();

  constructor(providers: readonly Provider[] = BUILT_IN) {
    for (const provider of providers) this.add(provider);
  }

  /** @throws Error where a name is taken, of a provider or of a path */
  add(provider: Provider): void {
    if (this.byName.has(provider.name)) throw new Error(`There are two providers ${provider.name}.`);
    this.byName.set(provider.name, provider);
    for (const [path, webhook] of Object.entries(provider.webhooks)) {
      if (this.byPath.has(path)) throw new Error(`Two providers report to ${path}.`);
      this.byPath.set(path, { provider, webhook });
    }
  }

  /** Undefined where there is none of this name: settings of a later release may name one. */
  find(name: string): Provider | undefined {
    return this.byName.get(name);
  }

  /** Those that a channel can be configured with. */
  of(channel: Channel): readonly Provider[] {
    return [...this.byName.values()].filter(({ channels }) => channels.includes(channel));
  }

  /** By the name in the path. */
  webhook(path: string): RegisteredWebhook | undefined {
    return this.byPath.get(path);
  }
}
