import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Clock, SigningKeys } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import Provider, { type KoaContextWithOIDC } from 'oidc-provider';
import { Accounts } from './accounts.js';
import { HINT_LIFE_S, ID_TOKEN_ALGORITHM, ID_TOKENS } from './id-tokens.js';
import { staleOnError } from './stale-on-error.js';
import { PlatformTokens } from './platform-tokens.js';
import { ProviderAdapters } from './provider-adapter.js';
import { providerConfiguration } from './provider-configuration.js';
import { ProviderPages } from './provider-pages.js';
import { ROUTES } from './routes.js';
import { cookieNames, nameCookiesBySignIn } from './sign-in-cookies.js';
import { SignInPolicy } from './sign-in-policy.js';
import { unstorableIn } from './sign-in-parameters.js';
import { answerLogoutWithoutSession, dropUnknownSessions } from './logout-without-session.js';

/** Keys are looked at anew after so long. */
const KEYS_REMEMBERED_MS = 1_000;
/** While they cannot be, the last are good for so long: discovery needs no database, and whatever signs does. */
const KEYS_GOOD_WHILE_AWAY_MS = 3_600_000;

/** Nothing may frame the provider, nothing runs in it but what it has written itself. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; script-src; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

interface Made {
  readonly provider: Provider;
  readonly kids: string;
}

/**
 * The OpenID provider. It keeps nothing between two requests, so that another is made when the keys of ID tokens change:
 * they rotate without a restart, and requests under way end with those that they began with.
 */
@Injectable()
export class Providers {
  private readonly issuer = readConfig(serviceConfig.pick({ PUBLIC_URL: true })).PUBLIC_URL;
  private made: Made | undefined;
  private looking: Promise<Made> | undefined;
  private lookedAt = -Infinity;
  private readAt = -Infinity;

  constructor(
    private readonly adapters: ProviderAdapters,
    private readonly accounts: Accounts,
    private readonly policy: SignInPolicy,
    private readonly pages: ProviderPages,
    private readonly tokens: PlatformTokens,
    private readonly keys: SigningKeys,
    private readonly clock: Clock,
  ) {}

  /** Answers a request of the protocol; what goes wrong is answered in the protocol's form. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const provider = await this.current();
    this.pin(request);
    await provider.callback()(request, response);
  }

  /** The provider with the keys of now. */
  async current(): Promise<Provider> {
    const now = this.clock.now().getTime();
    const isGood = now - this.readAt < KEYS_GOOD_WHILE_AWAY_MS;
    if (this.made && isGood && now - this.lookedAt < KEYS_REMEMBERED_MS) return this.made.provider;
    this.looking ??= this.look(now)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'The keys of ID tokens could not be looked at');
        throw error;
      })
      .finally(() => (this.looking = undefined));
    const { looking, made } = this;
    return (await (made && isGood ? staleOnError(looking, made) : looking)).provider;
  }

  private async look(now: number): Promise<Made> {
    try {
      const keys = await this.keys.held(ID_TOKENS, HINT_LIFE_S * 1_000, ID_TOKEN_ALGORITHM);
      const kids = keys.map(({ kid }) => kid).join(' ');
      if (this.made?.kids !== kids) this.made = { provider: this.make(keys), kids };
      this.readAt = now;
      return this.made;
    } finally {
      // One that failed is not made again by the next request.
      this.lookedAt = now;
    }
  }

  private make(keys: Awaited<ReturnType<SigningKeys['held']>>): Provider {
    const { adapters, accounts, policy, pages, issuer } = this;
    const parts = { adapters, accounts, policy, pages, issuer, keys };
    const provider = new Provider(issuer, providerConfiguration(parts));
    provider.proxy = true;
    this.tokens.teach(provider);
    nameCookiesBySignIn(provider, cookieNames(issuer));
    dropUnknownSessions(provider);
    provider.on('server_error', (_ctx, error: Error) => {
      log.error({ err: error }, 'The OAuth provider failed');
    });
    provider.use(async (ctx, next) => {
      ctx.set(HEADERS);
      const unstorable = unstorableIn(ctx.query);
      if (unstorable !== undefined) {
        pages.unstorable(ctx, unstorable);
        return;
      }
      await next();
      describeTruly(ctx.path, ctx.body);
      nameUnauthorized(ctx);
      answerLogoutWithoutSession(ctx);
    });
    return provider;
  }

  /** Whatever a caller says of host and scheme, the provider is where the platform is. */
  private pin(request: IncomingMessage): void {
    const { host, protocol } = new URL(this.issuer);
    request.headers.host = host;
    request.headers['x-forwarded-host'] = host;
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    keepOffline(request);
  }
}

/**
 * OpenID Connect asks for the prompt of consent beside `offline_access`, and the provider drops the scope without it.
 * Whether anybody is asked is for the policy to say, so the prompt is put there.
 */
function keepOffline(request: IncomingMessage): void {
  const { url = '' } = request;
  // A second `?` belongs to the query (RFC 3986 §3.4).
  const begins = url.indexOf('?');
  const path = url.slice(0, begins);
  if (begins === -1 || path !== ROUTES.authorization) return;
  const parameters = new URLSearchParams(url.slice(begins + 1));
  const [scope, ...scopes] = parameters.getAll('scope');
  const [prompt = '', ...prompts] = parameters.getAll('prompt');
  if (scopes.length > 0 || prompts.length > 0) return; // refused by the provider
  const asked = prompt.split(' ').filter(Boolean);
  if (!scope?.split(' ').includes('offline_access') || asked.includes('none') || asked.includes('consent'))
    return;
  parameters.set('prompt', [...asked, 'consent'].join(' '));
  request.url = `${path}?${parameters.toString()}`;
}

/** A client that may not use the grant it names is told so (RFC 6749 §5.2), which the library calls a bad request. */
function nameUnauthorized({
  path,
  body,
  oidc,
}: Pick<KoaContextWithOIDC, 'path' | 'body'> & { oidc?: KoaContextWithOIDC['oidc'] }): void {
  if (path !== ROUTES.token || typeof body !== 'object' || body === null) return;
  if (!('error' in body) || body.error !== 'invalid_request') return;
  const { client, params } = oidc ?? {};
  const grant = params?.['grant_type'];
  if (client && typeof grant === 'string' && !client.grantTypeAllowed(grant))
    Object.assign(body, { error: 'unauthorized_client' });
}

/** The library offers more ways to answer than it is let use. */
function describeTruly(path: string, body: unknown): void {
  if (!path.startsWith('/.well-known/') || typeof body !== 'object' || body === null) return;
  Object.assign(body, { response_modes_supported: ['query'] });
}
