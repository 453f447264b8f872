import { Injectable } from '@nestjs/common';
import { clientAddress, currentCorrelationId, log } from '@customer-platform/http';
import { Clock, isDatabaseUnavailable, newId } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import {
  errors,
  interactionPolicy,
  type Client,
  type Grant,
  type InteractionResults,
  type KoaContextWithOIDC,
  type Session,
} from 'oidc-provider';
import { apiScopesIn, isSameReach } from '../vocabulary/api-scopes.js';
import { isAnybodys, platformClient, type PlatformClient } from './client-metadata.js';
import { available } from './database-away.js';
import { OrganizationChoice, type OpenOrganization } from './organization-choice.js';
import { counted } from '../vocabulary/sign-in-metrics.js';
import type { CameIn } from '../sessions/session-authentication.js';
import { SessionGrants } from './session-grants.js';
import { SELECT_ACCOUNT } from './sign-in-parameters.js';

const { Check, Prompt, base } = interactionPolicy;
const HOUR_MS = 3_600_000;

/**
 * What stands between an authorization request and its code, in this order: a user who has authenticated in this browser,
 * an organization, and, for clients of others, consent.
 */
@Injectable()
export class SignInPolicy {
  constructor(
    private readonly choice: OrganizationChoice,
    private readonly grants: SessionGrants,
    private readonly clock: Clock,
  ) {}

  prompts(): interactionPolicy.DefaultPolicy {
    const policy = base();
    policy
      .get('login')
      ?.checks.add(
        new Check('not_trusted', 'the End-User must authenticate anew', 'login_required', (ctx) =>
          available(this.mustAuthenticate(ctx)),
        ),
      );
    policy.remove('consent');
    // Whoever asks for it is shown where one signs in, whoever is signed in already.
    policy.add(new Prompt({ name: SELECT_ACCOUNT, requestable: true }), 0);
    policy.add(
      new Prompt(
        // Also who is at work in one may ask for another.
        { name: 'organization', requestable: true },
        new Check('not_chosen', 'an organization must be chosen', 'interaction_required', (ctx) =>
          available(this.mustChoose(ctx)),
        ),
      ),
    );
    policy.add(this.consent());
    return policy;
  }

  /**
   * The session that the client has in this browser, of the organization that is wished; where the user has just signed in
   * none from before. The browser's tabs may be of several: each goes on with its own.
   */
  async existingGrant(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
    const { session, client, result, entities, provider } = ctx.oidc;
    if (!session?.accountId || !client) return undefined;
    const apiScopes = apiScopesIn(ctx.oidc.requestParamOIDCScopes);
    const find = async (grantId: string | undefined) =>
      grantId === undefined ? undefined : provider.Grant.find(grantId);
    // What came of the sign-in before this step is the grant already, unless a release before, which limits none, began it.
    const begun = result?.['consent'] ? entities.Interaction?.grantId : undefined;
    if (await this.reaches(begun, apiScopes)) return find(begun);
    if (isInvited(ctx)) return undefined;
    const wish = wishOf(ctx);
    // Of a sign-in whose answer was lost, that which it has begun.
    const last = result?.login ? undefined : session.grantIdFor(client.clientId);
    if (wish === undefined || (last !== undefined && (await this.isOf(last, wish)))) {
      // What may do more, or less, than is asked for now is another session.
      const grant = (await this.reaches(last, apiScopes)) ? await find(last) : undefined;
      if (grant ?? wish === undefined) return grant;
    }
    const { uid: browser, accountId: userId, amr = [] } = session;
    const arrived = result?.login ? { arrivedAt: authenticatedAt(ctx.oidc, session) } : {};
    const by = { browser, userId, since: sinceOf(session), amr, apiScopes, ...arrived };
    return find(await available(this.grants.begun(by, client.clientId, wish)));
  }

  private async isOf(grantId: string, wish: string): Promise<boolean> {
    if (grantId.startsWith(`${wish.toLowerCase()}.`)) return true;
    return (await available(this.grants.find(grantId)))?.['organizationSlug'] === wish;
  }

  private async reaches(grantId: string | undefined, apiScopes: readonly string[] | null): Promise<boolean> {
    if (grantId === undefined) return false;
    const grant = await available(this.grants.find(grantId));
    return grant !== undefined && isSameReach(grant['apiScopes'] as string[] | null, apiScopes);
  }

  private consent(): interactionPolicy.Prompt {
    const prompt = new Prompt(
      { name: 'consent', requestable: true },
      new Check(
        'scopes_missing',
        'requested scopes not granted',
        'consent_required',
        (ctx) => available(this.mustConsent(ctx)),
        (ctx) => ({ scopes: missingScopes(ctx) }),
      ),
    );
    // Whose people the client serves as their own organization's is not asked, whatever the request says.
    prompt.checks.remove('consent_prompt');
    return prompt;
  }

  /** Whoever was made to leave signs in again; so does a browser in which nothing goes on any more. */
  private async mustAuthenticate(ctx: KoaContextWithOIDC): Promise<boolean> {
    const { session, result, account } = ctx.oidc;
    if (!session?.accountId) return false; // another check's affair
    if (!account) return true;
    if (!result?.login) {
      const isTrusted = await this.grants.isTrusted(session.uid, session.accountId, sinceOf(session));
      return !isTrusted || (await this.isOfNoUse(ctx, session));
    }
    const at = authenticatedAt(ctx.oidc, session);
    if (!(await this.grants.isStillIn(session.accountId, at, session.amr ?? []))) return true;
    const connectionId = connectionOf(result);
    return (
      connectionId !== undefined && !(await this.grants.connectionVouches(connectionId, session.accountId))
    );
  }

  /**
   * Whether the sign-in of before does not lead where the user asks to act, or a session would be over as it begins:
   * organizations differ in how long a sign-in is good for. Another way in may lead there.
   */
  private async isOfNoUse(ctx: KoaContextWithOIDC, session: Session): Promise<boolean> {
    const { client } = ctx.oidc;
    const { accountId: userId } = session;
    if (!client || !userId) return false;
    const { connectionId, authenticatedAt: since } = await this.grants.signInOf(
      session.uid,
      userId,
      sinceOf(session),
    );
    const cameIn = { userId, connectionId };
    const reach = platformClient(client);
    const wish = wishOf(ctx);
    const chosen = await this.chosen(cameIn, reach, wish).catch(unlessDenied);
    if (chosen === undefined) return this.leadsNowhere(cameIn, reach, wish);
    return this.clock.now().getTime() - since.getTime() >= chosen.absoluteHours * HOUR_MS;
  }

  /** Whether there is somewhere to act by the client, and the way in leads to none of it. */
  private async leadsNowhere(
    cameIn: CameIn,
    reach: PlatformClient,
    wish: string | undefined,
  ): Promise<boolean> {
    const isLed =
      wish === undefined
        ? (await this.choice.offered(cameIn, reach)).choices.length > 0
        : (await this.choice.named(cameIn, reach, wish)) !== undefined;
    return !isLed && this.choice.isMember(cameIn.userId, reach, wish);
  }

  private async cameIn({ oidc }: KoaContextWithOIDC, session: Session): Promise<CameIn> {
    const userId = session.accountId ?? '';
    const { connectionId } = oidc.result?.login
      ? { connectionId: connectionOf(oidc.result) }
      : await this.grants.signInOf(session.uid, userId, sinceOf(session));
    return { userId, connectionId };
  }

  /** Begins the session once it is certain where; the provider asks nobody then. */
  private async mustChoose(ctx: KoaContextWithOIDC): Promise<boolean> {
    const { session, client, grant, provider } = ctx.oidc;
    if (!session?.accountId || !client || grant?.jti) return false;
    if (isInvited(ctx)) return true;
    const cameIn = await this.cameIn(ctx, session);
    const chosen = await this.chosen(cameIn, platformClient(client), wishOf(ctx));
    if (!chosen || (chosen.demandsMfa && !session.amr?.includes('mfa'))) return true;
    const grantId = await this.begin(ctx, session, client, chosen.id);
    session.ensureClientContainer(client.clientId);
    session.grantIdFor(client.clientId, grantId);
    ctx.oidc.entity('Grant', await provider.Grant.find(grantId));
    return false;
  }

  /** @throws AccessDenied where the user may act in none, or not in the one that is wished */
  private async chosen(
    cameIn: CameIn,
    client: PlatformClient,
    wish: string | undefined,
  ): Promise<OpenOrganization | undefined> {
    if (wish !== undefined) {
      const named = await this.choice.named(cameIn, client, wish);
      if (named === undefined) throw new errors.AccessDenied('the End-User is no member of the organization');
      return named;
    }
    const { choices } = await this.choice.offered(cameIn, client);
    const [first, ...others] = choices;
    if (first === undefined)
      throw new errors.AccessDenied('the End-User is no member of an organization that the client serves');
    return others.length === 0 ? first : undefined;
  }

  /** @throws LoginRequired where what the user has shown came to nothing at this moment */
  private async begin(ctx: KoaContextWithOIDC, session: Session, client: Client, organizationId: string) {
    const { req, oidc } = ctx;
    const userId = session.accountId ?? '';
    const {
      authenticatedAt: at,
      authTime,
      connectionId,
    } = oidc.result?.login
      ? {
          authenticatedAt: authenticatedAt(oidc, session),
          authTime: timeIn(oidc.result, 'authTime'),
          connectionId: connectionOf(oidc.result),
        }
      : await this.grants.signInOf(session.uid, userId, sinceOf(session));
    const authentication = {
      userId,
      organizationId,
      amr: session.amr ?? [],
      authenticatedAt: at,
      authTime,
      connectionId,
      clientId: client.clientId,
      apiScopes: apiScopesIn(oidc.requestParamOIDCScopes),
      correlationId: currentCorrelationId() ?? newId(),
      ip: clientAddress(req),
      userAgent: req.headers['user-agent'],
    };
    const begin = (): Promise<string> => this.grants.begin(authentication, session.uid);
    // The library has used the sign-in up: a connection that broke at this moment would cost the user all of it. Where
    // it broke after the commit, a session is left that has no token.
    const begun = begin().catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) throw error;
      log.info({ err: error }, 'A session could not be begun; it is tried once more');
      return begin();
    });
    return counted('session', begun).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.code !== 'sign_in_required') throw error;
      throw new errors.LoginRequired(error.message);
    });
  }

  private async mustConsent(ctx: KoaContextWithOIDC): Promise<boolean> {
    const { client, grant, params, result } = ctx.oidc;
    if (!client || !grant?.jti) return false;
    const missing = missingScopes(ctx);
    // A program that nobody knows would have a code by the session of a browser that it only opens.
    const isSaid = result?.login !== undefined || result?.consent !== undefined;
    if (!isSaid && isAnybodys(client, params?.['redirect_uri'])) return true;
    if (!platformClient(client).firstParty)
      return missing.length > 0 || (ctx.oidc.prompts.has('consent') && ctx.oidc.promptPending('consent'));
    if (missing.length === 0) return false;
    grant.addOIDCScope(missing);
    await grant.save();
    return false;
  }
}

function sinceOf({ loginTs = 0 }: Session): Date {
  return new Date(loginTs * 1_000);
}

/** To the millisecond in the sign-in itself; of what was before it the protocol keeps seconds. */
function authenticatedAt({ result }: KoaContextWithOIDC['oidc'], session: Session): Date {
  return timeIn(result, 'authenticatedAt') ?? sinceOf(session);
}

function timeIn(result: InteractionResults | undefined, name: string): Date | undefined {
  const time = result?.[name];
  return typeof time === 'string' ? new Date(time) : undefined;
}

/** The SSO connection that vouches for whoever has signed in just now. */
function connectionOf({ login }: InteractionResults): string | undefined {
  const connectionId = login?.['connectionId'];
  return typeof connectionId === 'string' ? connectionId : undefined;
}

/** Who may act nowhere is told so later. */
function unlessDenied(error: unknown): undefined {
  if (!(error instanceof errors.AccessDenied)) throw error;
}

/** What the user has chosen, else what the request names, by id or slug. */
function wishOf({ oidc }: KoaContextWithOIDC): string | undefined {
  const chosen = oidc.result?.['organization'];
  if (typeof chosen === 'string') return chosen;
  const named = oidc.params?.['organization'];
  return typeof named === 'string' ? named : undefined;
}

/** Whoever comes by an invitation is asked on the pages whether to take it, also who is a member of nothing yet. */
function isInvited({ oidc }: KoaContextWithOIDC): boolean {
  return typeof oidc.params?.['invitation'] === 'string' && oidc.result?.['organization'] === undefined;
}

function missingScopes({ oidc }: KoaContextWithOIDC): string[] {
  const known = new Set((oidc.grant?.getOIDCScopeEncountered() ?? '').split(' '));
  return [...oidc.requestParamOIDCScopes].filter((scope) => !known.has(scope));
}
