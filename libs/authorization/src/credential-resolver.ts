import type { AcceptedCredential } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { AccessToken, AccessTokens } from './access-tokens.js';
import { API_KEY_MARK, hashApiKey, isWellFormedApiKey } from './api-key.js';
import {
  RegistryUnavailable,
  UnknownCredential,
  type AuthorizationSource,
  type ResolveLane,
} from './authorization-source.js';
import { byDeadline, DeadlinePassed } from './by-deadline.js';
import type { ResolvedCaller } from './caller.js';
import type { ChangeFeed } from './change-feed.js';
import type { CredentialCache, CredentialEntry } from './credential-cache.js';
import type { KeyUsage } from './key-usage.js';
import type { Monotonic } from './monotonic.js';
import type { MakerClaims, ResolvedCredential, TenantClaims } from './protocol.js';
import { RefusedCredentials } from './refused-credentials.js';
import { StrangerLane } from './stranger-lane.js';

/** A resolve that has not ended by then has failed; all tries of one fill share it (identity.md §8). */
const RESOLVE_TIMEOUT_MS = 500;
/** How often a fill is asked again that an epoch overtook. */
const FILL_TRIES = 3;
/** Ingestion outlives an outage of the registry for keys known good so recently (contract.md §5). */
const OUTAGE_GRACE_MS = 15 * 60_000;

/** How a credential is to be judged. */
export interface AuthenticationOptions {
  accepts: AcceptedCredential;
  /**
   * Ingestion only: while the registry is away, a key known good within the last 15 minutes is taken and the caller
   * marked `unconfirmed`. What it sends may be stored only after `AuthorizationSource.confirm`.
   */
  outlivesOutage?: boolean;
  /** The address from which the credential came: unknown ones are rationed by it, so nobody asks without saying it. */
  address: string | undefined;
}

/** How claims about a tenant were come by. */
interface TenantOptions {
  /** Nobody has verified them yet: the organization may not exist. */
  unverified?: boolean;
  /** From where they came. */
  address?: string | undefined;
  /** Set where what was known good within the last 15 minutes is returned while the registry is away. */
  outlivesOutage?: boolean;
}

interface Fill {
  readonly began: number;
  readonly answer: Promise<CredentialEntry>;
}

/** What is asked of the registry: under which name the answer is kept, and how it is asked. */
interface Question {
  readonly name: string;
  readonly ask: (timeoutMs: number, lane: ResolveLane) => Promise<ResolvedCredential>;
  /** Whoever asks may have made the credential up; such questions are rationed. */
  readonly mayBeMadeUp: boolean;
  readonly address?: string | undefined;
}

/**
 * Credential → caller. A cached answer permits only while the change feed is fresh and no newer epoch of its
 * organization is known; otherwise the registry is asked, and its silence is 503, never a permit.
 */
export class CredentialResolver {
  private readonly fills = new Map<string, Fill>();
  private readonly refused: RefusedCredentials;
  private readonly strangers: StrangerLane;

  constructor(
    private readonly source: AuthorizationSource,
    private readonly cache: CredentialCache,
    private readonly feed: ChangeFeed,
    private readonly usage: KeyUsage,
    private readonly clock: Monotonic,
    private readonly tokens: AccessTokens,
  ) {
    this.strangers = new StrangerLane(clock);
    this.refused = new RefusedCredentials(clock);
  }

  /**
   * The caller of an `Authorization` header if that can be told at once: an API key whose cached answer permits now.
   * Costs microseconds and waits for nothing. Undefined says nothing about the credential: `authenticate` decides.
   */
  peek(authorization: string | undefined): ResolvedCaller | undefined {
    const key = bearerToken(authorization);
    if (key === undefined || !isWellFormedApiKey(key)) return undefined;
    const entry = this.permitting(hashApiKey(key));
    if (!entry || entry.caller.restriction !== null) return undefined;
    this.usage.note(entry.use);
    return entry.caller;
  }

  /**
   * The caller of an `Authorization` header.
   * @throws Problem `missing_credentials`, `invalid_token`, `token_expired`, `user_required`, `organization_suspended`,
   *   `authorization_unavailable`, `rate_limited` for too many unknown keys of one address. A caller restricted to its own factors is returned; the route's guard decides.
   */
  async authenticate(
    authorization: string | undefined,
    { accepts, outlivesOutage = false, address }: AuthenticationOptions,
  ): Promise<ResolvedCaller> {
    const token = readToken(authorization);
    if (!token.startsWith(API_KEY_MARK)) return this.byToken(token, accepts);
    if (!isWellFormedApiKey(token)) throw new Problem('invalid_token');
    const keyHash = hashApiKey(token);
    const { caller, use } =
      this.permitting(keyHash) ?? (await this.ask(this.byKey(keyHash, address), outlivesOutage));
    if (accepts === 'user') {
      throw new Problem('user_required', { detail: 'This route serves users; an API key cannot call it.' });
    }
    if (caller.restriction === 'organization_suspended') throw new Problem('organization_suspended');
    this.usage.note(use);
    return caller;
  }

  /**
   * Whoever stands behind a token of a member, as fresh as any caller: an API key by its id, or the organization. The
   * claims must have been verified, or be said not to.
   * @throws Problem `invalid_token`, `token_expired`, `authorization_unavailable`, and for unverified claims
   *   `rate_limited`; a suspended organization is returned
   */
  async tenant(
    claims: TenantClaims,
    { unverified = false, address, outlivesOutage = false }: TenantOptions = {},
  ): Promise<ResolvedCaller> {
    const question: Question = {
      name: `tenant ${claims.organization_id} ${claims.api_key_id ?? ''}`,
      ask: (timeoutMs, lane) => this.source.resolveTenant(claims, timeoutMs, lane),
      mayBeMadeUp: unverified,
      address,
    };
    return (this.permitting(question.name) ?? (await this.ask(question, outlivesOutage))).caller;
  }

  /**
   * What who made something may do now, as fresh as any caller: for what goes on in their name without a credential.
   * With `outlivesOutage` what was known good within the last 15 minutes is returned while the registry is away.
   * @throws Problem `invalid_token`, `token_expired` where nobody speaks for it any more, `authorization_unavailable`;
   *   one of a suspended organization is returned
   */
  async maker(
    claims: MakerClaims,
    { outlivesOutage = false }: Pick<AuthenticationOptions, 'outlivesOutage'> = {},
  ): Promise<ResolvedCaller> {
    const question: Question = {
      name: `maker ${claims.organization_id} ${claims.maker_type} ${claims.maker_id}`,
      ask: (timeoutMs) => this.source.resolveMaker(claims, timeoutMs),
      mayBeMadeUp: false, // a module has written it down
    };
    return (this.permitting(question.name) ?? (await this.ask(question, outlivesOutage))).caller;
  }

  /** A user or a client by an access token, which no route for keys takes: there it is like any that nobody has. */
  private async byToken(token: string, accepts: AcceptedCredential): Promise<ResolvedCaller> {
    if (accepts === 'api_key') throw new Problem('invalid_token');
    const question = this.ofToken(await this.tokens.verify(token));
    const { caller } = this.permitting(question.name) ?? (await this.ask(question, false));
    if (accepts === 'user' && caller.principal.type !== 'user') {
      throw new Problem('user_required', { detail: 'This route serves users; a client cannot call it.' });
    }
    if (caller.restriction === 'organization_suspended') throw new Problem('organization_suspended');
    return caller;
  }

  private ofToken(token: AccessToken): Question {
    const mayBeMadeUp = false; // identity has signed it
    if ('client' in token) {
      const { client } = token;
      const name = `client ${client.organization_id} ${client.client_id} ${client.client_generation}`;
      return { name, ask: (timeoutMs) => this.source.resolveClient(client, timeoutMs), mayBeMadeUp };
    }
    const { session } = token;
    const name = `session ${session.organization_id} ${session.session_id} ${session.user_id}`;
    return { name, ask: (timeoutMs) => this.source.resolveSession(session, timeoutMs), mayBeMadeUp };
  }

  /** The cached answer, if it permits now. */
  private permitting(name: string): CredentialEntry | undefined {
    const now = this.clock.now();
    // Asked of every caller, known or not: it keeps the feed awake.
    const isFresh = this.feed.isFresh(now);
    const entry = this.cache.get(name);
    if (!entry || !isFresh || !this.cache.isCurrent(entry) || now >= entry.endsAt) return undefined;
    entry.knownGoodAt = Math.max(entry.knownGoodAt, this.feed.goodAt);
    return entry;
  }

  private byKey(keyHash: string, address: string | undefined): Question {
    return {
      name: keyHash,
      ask: (timeoutMs, lane) => this.source.resolve(keyHash, timeoutMs, lane),
      mayBeMadeUp: true,
      address,
    };
  }

  private async ask(question: Question, outlivesOutage: boolean): Promise<CredentialEntry> {
    const { name } = question;
    const spared = outlivesOutage ? this.unconfirmed(name) : undefined;
    // The feed asks four times a second already: while it hears nothing, ingestion does not wait to hear nothing too.
    if (spared && this.feed.isDown) return spared;
    this.refused.check(name);
    try {
      return await this.fill(question);
    } catch (error) {
      if (error instanceof UnknownCredential) throw this.refused.remember(name, error.reason);
      if (error instanceof RegistryUnavailable) {
        if (spared) return spared;
        throw new Problem('authorization_unavailable', { cause: error });
      }
      throw error;
    }
  }

  /** One fill at a time for each credential. One begun longer ago than a resolve may take is not waited for. */
  private fill(question: Question): Promise<CredentialEntry> {
    const { name } = question;
    const began = this.clock.now();
    const running = this.fills.get(name);
    if (running && began - running.began < RESOLVE_TIMEOUT_MS) return running.answer;
    const fill: Fill = { began, answer: this.askRegistry(question, began) };
    this.fills.set(name, fill);
    const done = (): void => {
      if (this.fills.get(name) === fill) this.fills.delete(name);
    };
    fill.answer.then(done, done);
    return fill.answer;
  }

  private async askRegistry(question: Question, began: number): Promise<CredentialEntry> {
    const { name } = question;
    const run = this.feed.run;
    const mark = this.cache.beginFill(began);
    try {
      for (let attempt = 1; attempt <= FILL_TRIES; attempt += 1) {
        const left = began + RESOLVE_TIMEOUT_MS - this.clock.now();
        if (left <= 0) break;
        const asked = this.clock.now();
        // By the clock, whatever the source makes of it: a late answer is none, also where only we were late.
        const deadline = asked + left;
        const resolved = await byDeadline(this.clock, deadline, () => this.askOnLane(question, deadline));
        if (resolved.epoch < this.cache.highestEpoch(resolved.organization.id)) continue;
        const entry = this.cache.entryOf(name, resolved, asked);
        if (run > 0 && run === this.feed.run) this.cache.keep(name, entry);
        return entry;
      }
      throw new RegistryUnavailable('The rights changed faster than they could be read');
    } catch (error) {
      if (error instanceof UnknownCredential) this.cache.drop(name);
      if (error instanceof DeadlinePassed)
        throw new RegistryUnavailable('The registry did not answer in time', { cause: error });
      throw error;
    } finally {
      this.cache.endFill(mark);
    }
  }

  /** A credential seen good before is refreshed at once, whatever else is looked up. */
  private async askOnLane(question: Question, deadline: number): Promise<ResolvedCredential> {
    const { name, ask, mayBeMadeUp, address } = question;
    const left = (): number => deadline - this.clock.now();
    if (!mayBeMadeUp || this.cache.get(name)) return ask(left(), 'known');
    return this.strangers.run(address, () => {
      if (left() <= 0) throw new RegistryUnavailable('The look-up waited too long for its turn');
      return ask(left(), 'strangers');
    });
  }

  private unconfirmed(name: string): CredentialEntry | undefined {
    const entry = this.cache.get(name);
    if (!entry || entry.caller.restriction !== null) return undefined;
    const now = this.clock.now();
    if (now >= entry.endsAt || now - entry.knownGoodAt > OUTAGE_GRACE_MS) return undefined;
    return { ...entry, caller: { ...entry.caller, unconfirmed: true } };
  }
}

/** The token of a `Bearer` header; the scheme ignores case (RFC 9110 §11.1). */
function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length < 8) return undefined;
  if (!authorization.startsWith('Bearer ') && !/^bearer /i.test(authorization)) return undefined;
  return authorization.slice(7).trim();
}

function readToken(authorization: string | undefined): string {
  if (authorization === undefined || authorization.trim() === '') throw new Problem('missing_credentials');
  const token = bearerToken(authorization);
  if (token === undefined) throw new Problem('invalid_token');
  return token;
}
