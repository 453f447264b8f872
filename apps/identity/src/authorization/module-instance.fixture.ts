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
import { Problem } from '@customer-platform/problem-json';
import { eventually, serviceKeys } from '@customer-platform/testing';

/** What came of a request: `permitted`, `unconfirmed` or the code of the refusal. */
export type Verdict = string;

/** A request with when it began, by the process's monotonic clock. */
export interface Observation {
  began: number;
  verdict: Verdict;
}

/** Credentials as one more process of a module resolves them: over HTTP, with a cache and a feed of its own. */
export class ModuleInstance {
  readonly observations: Observation[] = [];
  private timer: NodeJS.Timeout | undefined;
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

  /** One request with a key. */
  async ask(key: string, options: AuthenticationOptions = { accepts: 'api_key|user' }): Promise<Verdict> {
    try {
      const header = `Bearer ${key}`;
      const caller = this.resolver.peek(header) ?? (await this.resolver.authenticate(header, options));
      return caller.unconfirmed ? 'unconfirmed' : 'permitted';
    } catch (error) {
      if (error instanceof Problem) return error.code;
      throw error;
    }
  }

  /** 20 requests a second from now on, each observed. */
  observe(key: string, judge: (verdict: Verdict) => Promise<Verdict> | Verdict = (verdict) => verdict): void {
    this.timer = setInterval(() => {
      const began = performance.now();
      this.asked.push(
        this.ask(key).then(async (verdict) => {
          this.observations.push({ began, verdict: await judge(verdict) });
        }),
      );
    }, 50);
  }

  /** Ends the requests and waits for their answers. */
  async rest(): Promise<Observation[]> {
    clearInterval(this.timer);
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
