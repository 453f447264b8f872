import { Injectable } from '@nestjs/common';
import Provider, { errors, type Adapter, type AdapterPayload, type KoaContextWithOIDC } from 'oidc-provider';
import { clientAddress } from '@customer-platform/http';
import { networkOf, siteOf } from '../vocabulary/network-of.js';
import type { EndedReason } from '../sessions/session.dto.js';
import { isFor } from './bound-result.js';
import { BrowserStates, type Beginner, type BrowserStateKind } from './browser-states.js';
import { ClientMetadata } from './client-metadata.js';
import { available } from './database-away.js';
import { Exchanges, usedBefore } from './exchanges.js';
import { PrivateCallers } from './private-callers.js';
import { SessionGrants } from './session-grants.js';
import { StoredTokens, type TokenKind } from './stored-tokens.js';

/** Why a session ends, by what was asked of the provider that ended its grant. */
const REASONS: Readonly<Record<string, EndedReason>> = {
  token: 'token_reuse',
  end_session_confirm: 'logout',
  revocation: 'revoked',
};

/** Sign-ins that nobody ends cease to count one by one. */
const RETRY_AFTER_S = '60';

/** An adapter that keeps nothing. The provider asks each model for all of these. */
class Nothing implements Adapter {
  async upsert(_id: string, _payload: AdapterPayload, _livesS?: number): Promise<void> {
    return Promise.reject(new Error(`The provider was not to keep this: ${this.constructor.name}`));
  }
  async find(_id: string): Promise<AdapterPayload | undefined> {
    return Promise.resolve(undefined);
  }
  async findByUserCode(_code: string): Promise<AdapterPayload | undefined> {
    return Promise.resolve(undefined);
  }
  async findByUid(_uid: string): Promise<AdapterPayload | undefined> {
    return Promise.resolve(undefined);
  }
  async consume(_id: string): Promise<void> {
    return Promise.resolve();
  }
  async destroy(_id: string): Promise<void> {
    return Promise.resolve();
  }
  async revokeByGrantId(_grantId: string): Promise<void> {
    return Promise.resolve();
  }
}

class ClientAdapter extends Nothing {
  constructor(private readonly clients: ClientMetadata) {
    super();
  }
  override find(id: string): Promise<AdapterPayload | undefined> {
    return available(this.clients.find(id));
  }
}

class GrantAdapter extends Nothing {
  constructor(private readonly grants: SessionGrants) {
    super();
  }
  override upsert(id: string, payload: AdapterPayload): Promise<void> {
    return available(this.grants.save(id, payload));
  }
  override find(id: string): Promise<AdapterPayload | undefined> {
    return available(this.grants.find(id));
  }
  override destroy(id: string): Promise<void> {
    const reason = REASONS[Provider.ctx?.oidc.route ?? ''] ?? 'revoked';
    return available(this.grants.end(id, reason));
  }
}

class TokenAdapter extends Nothing {
  constructor(
    private readonly kind: TokenKind,
    private readonly tokens: StoredTokens,
    private readonly exchanges: Exchanges,
  ) {
    super();
  }
  override async upsert(id: string, payload: AdapterPayload, livesS = 1): Promise<void> {
    const { ctx } = Provider;
    const exchanged = ctx && this.kind === 'RefreshToken' ? this.exchanges.of(ctx) : undefined;
    if (!ctx || !exchanged) return available(this.tokens.insert(this.kind, id, payload, livesS));
    const successor = { token: id, payload, livesS };
    const isTaken = await available(this.exchanges.complete(ctx, payload.grantId ?? '', successor));
    if (isTaken) return;
    await available(this.exchanges.endOfCopy(exchanged.kind, exchanged.token));
    throw usedBefore();
  }
  override find(id: string): Promise<AdapterPayload | undefined> {
    return available(this.tokens.find(this.kind, id));
  }
  /** It is used up when what comes of it is kept. */
  override consume(id: string): Promise<void> {
    const { ctx } = Provider;
    if (!ctx) return Promise.reject(new Error('A token is exchanged by a request'));
    this.exchanges.begin(ctx, this.kind, id);
    return Promise.resolve();
  }
  override destroy(id: string): Promise<void> {
    return available(this.tokens.remove(this.kind, id));
  }
  override revokeByGrantId(grantId: string): Promise<void> {
    return available(this.tokens.removeOfGrant(this.kind, grantId));
  }
}

class BrowserAdapter extends Nothing {
  /** Rows that a request has found; another request may end them before they are written again. */
  private readonly found = new WeakMap<object, string>();

  constructor(
    private readonly kind: BrowserStateKind,
    private readonly states: BrowserStates,
    private readonly grants: SessionGrants,
    private readonly callers: PrivateCallers,
  ) {
    super();
  }
  override async upsert(id: string, payload: AdapterPayload, livesS = 1): Promise<void> {
    // A session in which nobody has signed in tells nothing.
    if (this.kind === 'Session' && payload.accountId === undefined) return;
    const { ctx } = Provider;
    if (this.kind === 'Session' && ctx && this.found.get(ctx) === id) {
      if (!(await available(this.states.update(this.kind, id, payload, livesS)))) keepCookie(ctx);
      return;
    }
    if (!(await available(this.states.upsert(this.kind, id, payload, livesS, this.beginner()))))
      throw tooManySignIns();
  }
  /** Who begins a sign-in; undefined for what goes on. */
  private beginner(): Beginner | undefined {
    const { ctx } = Provider;
    if (this.kind !== 'Interaction' || ctx?.oidc.route !== 'authorization') return undefined;
    const ip = clientAddress(ctx.req);
    this.callers.note(ip);
    return { network: networkOf(ip) ?? 'unknown', site: siteOf(ip) };
  }
  override async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await available(this.states.find(this.kind, id));
    const { ctx } = Provider;
    if (!found || !ctx) return found;
    if (ctx.oidc.route === 'resume' && !isFor(found.result, ctx.req, id)) return undefined;
    this.found.set(ctx, id);
    return found;
  }
  override findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return available(this.states.findByUid(this.kind, uid));
  }
  /** A session of a browser gets new ids as it goes on; only signing out ends what has begun in it. */
  override async destroy(id: string): Promise<void> {
    const { ctx } = Provider;
    if (this.kind === 'Interaction') return available(this.states.end(id));
    const signsOut = ctx?.oidc.route === 'end_session_confirm';
    if (signsOut && ctx.oidc.params?.['logout'] !== undefined && ctx.oidc.session) {
      await available(this.grants.endOfBrowser(ctx.oidc.session.uid));
    }
    await available(this.states.remove(this.kind, id));
  }
}

/** What the provider keeps, and where. Access tokens are signed and kept nowhere. */
@Injectable()
export class ProviderAdapters {
  constructor(
    private readonly clients: ClientMetadata,
    private readonly grants: SessionGrants,
    private readonly tokens: StoredTokens,
    private readonly states: BrowserStates,
    private readonly exchanges: Exchanges,
    private readonly callers: PrivateCallers,
  ) {}

  /** The adapter of a model, by the model's name. */
  of(model: string): Adapter {
    switch (model) {
      case 'Client':
        return new ClientAdapter(this.clients);
      case 'Grant':
        return new GrantAdapter(this.grants);
      case 'AuthorizationCode':
      case 'RefreshToken':
        return new TokenAdapter(model, this.tokens, this.exchanges);
      case 'Interaction':
      case 'Session':
        return new BrowserAdapter(model, this.states, this.grants, this.callers);
      default:
        return new Nothing();
    }
  }
}

/** The browser goes by another cookie by now, or by none. */
function keepCookie(ctx: KoaContextWithOIDC): void {
  const name = ctx.oidc.provider.cookieName('session');
  const lines = [ctx.response.get('set-cookie')].flat().filter((line) => !line.startsWith(`${name}=`));
  ctx.remove('set-cookie');
  if (lines.length > 0) ctx.set('set-cookie', lines.filter(Boolean));
}

/** Told to the browser itself: its client has not asked for so many, and would only send it here again. */
function tooManySignIns(): errors.OIDCProviderError {
  const error = new errors.TemporarilyUnavailable('too many sign-ins were begun from this network');
  Provider.ctx?.set('Retry-After', RETRY_AFTER_S);
  return Object.assign(error, { status: 429, statusCode: 429, allow_redirect: false });
}
