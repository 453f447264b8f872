import {
  AccessTokens,
  ChangeFeed,
  CredentialCache,
  CredentialResolver,
  HttpAuthorizationSource,
  InternalClient,
  KeyUsage,
  monotonic,
  ServiceTokens,
  type AuthenticationOptions,
  type ModuleName,
  type ServiceKeys,
} from '@customer-platform/authorization';
import type { Permission } from '@customer-platform/permissions';
import { Problem } from '@customer-platform/problem-json';
import { eventually, serviceKeys } from '@customer-platform/testing';

/** What came of a request: `permitted`, `unconfirmed` or the code of the refusal. */
type Verdict = string;

/** A request with when it began, by the process's monotonic clock. */
export interface Observation {
  /** The key or token that it was made with. */
  credential: string;
  began: number;
  verdict: Verdict;
}

/** Credentials as one more process of a module resolves them: over HTTP, with a cache and a feed of its own. */
export class ModuleInstance {
  readonly observations: Observation[] = [];
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly asked: Promise<unknown>[] = [];

  private constructor(
    readonly source: HttpAuthorizationSource,
    readonly resolver: CredentialResolver,
    readonly usage: KeyUsage,
    private readonly feed: ChangeFeed,
    private readonly client: InternalClient,
  ) {}

  /** One that has read the feed and is ready. */
  static async start(identityInternalUrl: string, module: ModuleName = 'core'): Promise<ModuleInstance> {
    const { SERVICE_PRIVATE_KEY, SERVICE_PUBLIC_KEYS } = serviceKeys(module);
    const keys = {
      SERVICE_PRIVATE_KEY: JSON.parse(SERVICE_PRIVATE_KEY) as unknown,
      SERVICE_PUBLIC_KEYS: JSON.parse(SERVICE_PUBLIC_KEYS) as unknown,
    } as ServiceKeys;
    const client = new InternalClient(new ServiceTokens(module, keys), { identity: identityInternalUrl });
    const source = new HttpAuthorizationSource(client);
    const cache = new CredentialCache();
    const feed = new ChangeFeed(source, cache, monotonic);
    const usage = new KeyUsage(source);
    const resolver = new CredentialResolver(
      source,
      cache,
      feed,
      usage,
      monotonic,
      new AccessTokens(source, 'http://127.0.0.1:8080', monotonic),
    );
    feed.start();
    await eventually(() => expect(feed.run).toBe(1));
    return new ModuleInstance(source, resolver, usage, feed, client);
  }

  /** One request with a key or a token, for a route that needs the permission, if one is named. */
  async ask(
    credential: string,
    options: Omit<AuthenticationOptions, 'address'> = { accepts: 'api_key|user' },
    permission?: Permission,
  ): Promise<Verdict> {
    try {
      const header = `Bearer ${credential}`;
      const said = { ...options, address: '192.0.2.1' };
      const caller = this.resolver.peek(header) ?? (await this.resolver.authenticate(header, said));
      if (permission !== undefined && !caller.permissions.has(permission)) return 'permission_denied';
      return caller.unconfirmed ? 'unconfirmed' : 'permitted';
    } catch (error) {
      if (error instanceof Problem) return error.code;
      throw error;
    }
  }

  /** 20 requests a second from now on, each observed. */
  observe(credential: string, permission?: Permission): void {
    const ask = (): void => {
      const began = performance.now();
      const asked = this.ask(credential, undefined, permission);
      this.asked.push(asked.then((verdict) => this.observations.push({ credential, began, verdict })));
    };
    this.timers.push(setInterval(ask, 50));
  }

  /** Ends the requests and waits for their answers. */
  async rest(): Promise<Observation[]> {
    for (const timer of this.timers.splice(0)) clearInterval(timer);
    await Promise.all(this.asked.splice(0));
    return this.observations.splice(0);
  }

  async stop(): Promise<void> {
    await this.rest();
    await this.usage.stop();
    await this.feed.stop();
    await this.client.close();
  }
}
