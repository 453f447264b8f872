import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { errors, type InteractionResults, type Interaction as ProviderInteraction } from 'oidc-provider';
import type { SignedIn } from '../vocabulary/signed-in.js';
import type { BrowserBinding } from '../pages/browser-binding.js';
import { boundTo, isFor } from './bound-result.js';
import { BrowserStates } from './browser-states.js';
import { platformClient } from './client-metadata.js';
import { available } from './database-away.js';
import { epochSeconds } from './epoch-seconds.js';
import { fromGrantId } from './grant-id.js';
import { againAt } from './provider-pages.js';
import { Providers } from './providers.js';
import { SessionGrants } from './session-grants.js';
import { SELECT_ACCOUNT } from './sign-in-parameters.js';

/** What the user is asked for. */
type InteractionPrompt = 'login' | 'organization' | 'consent';

/** A sign-in under way, as its pages see it. */
export interface Interaction {
  readonly uid: string;
  readonly prompt: InteractionPrompt;
  readonly client: {
    readonly id: string;
    readonly name: string;
    readonly organizationId: string;
    /** Whose people it serves: its organization's, or those of all below as well. */
    readonly organizations: 'own' | 'tree';
    /** They are not asked for their consent. */
    readonly firstParty: boolean;
  };
  /** The parameters of the authorization request: `login_hint`, `ui_locales`, `organization`, `max_age`. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Where the session has begun for which consent is asked. */
  readonly organizationId?: string;
  /** Scopes that consent is asked for. */
  readonly scopes: readonly string[];
  /** The address at which the browser goes on, once the step has ended. */
  readonly leadsTo?: string;
  /** Who has authenticated already: in this browser before, unless the prompt is `login`. */
  readonly signedIn?: SignedIn;
}

/** How a step of it ended. Without `organizationId` the user is asked for one, if there are several. */
export type InteractionResult =
  | { readonly signedIn: SignedIn; readonly organizationId?: string }
  | { readonly consent: readonly string[] }
  | { readonly error: string; readonly description?: string };

/** The sign-in is over, has expired, or is not this browser's; `again` is where it is begun anew, as far as it is known. */
export class InteractionNotFound extends Error {
  override readonly name = 'InteractionNotFound';

  constructor(
    message: string,
    readonly again?: string,
  ) {
    super(message);
  }
}

/** Sign-ins under way: between an authorization request and its answer stand pages, which work with these. */
@Injectable()
export class Interactions {
  constructor(
    private readonly providers: Providers,
    private readonly grants: SessionGrants,
    private readonly states: BrowserStates,
  ) {}

  /** The sign-in of this browser at this address. @throws InteractionNotFound */
  async read(request: IncomingMessage, response: ServerResponse): Promise<Interaction> {
    const found = await this.find(request, response);
    const provider = await this.providers.current();
    const client = await provider.Client.find(String(found.params['client_id']));
    if (!client) throw new InteractionNotFound('The client is gone');
    const { id, name, organizationId, organizations, firstParty } = platformClient(client);
    const prompt = promptOf(found.prompt.name);
    const begun = prompt === 'consent' ? fromGrantId(found.grantId) : undefined;
    // Whoever signed in here before is to authenticate anew where the prompt says so.
    const signedIn = prompt === 'login' ? undefined : await this.signedInOf(found);
    return {
      uid: found.uid,
      prompt,
      client: { id, name, organizationId, organizations, firstParty },
      params: found.params,
      ...(begun === undefined ? {} : { organizationId: begun.organizationId }),
      scopes: textsOf(found.prompt.details['scopes']),
      // Whoever has lost the answer with the secret in it authenticates once more.
      ...(found.result && isFor(found.result, request, found.uid) ? { leadsTo: found.returnTo } : {}),
      ...(signedIn === undefined ? {} : { signedIn }),
    };
  }

  /** Ends a step, for this browser alone. @returns where it goes on. @throws InteractionNotFound */
  async end(
    request: IncomingMessage,
    response: ServerResponse,
    result: InteractionResult,
    browser: BrowserBinding,
  ): Promise<string> {
    const found = await this.find(request, response);
    const provider = await this.providers.current();
    // The library adds what the step before this one has ended with.
    const bound = { ...(await this.resultOf(found, result)), ...boundTo(browser) };
    return provider.interactionResult(request, response, bound);
  }

  private async resultOf(found: ProviderInteraction, result: InteractionResult): Promise<InteractionResults> {
    if ('error' in result) {
      // A session that was begun for a consent which is not given.
      if (found.prompt.name === 'consent' && found.grantId) await this.grants.end(found.grantId, 'logout');
      return { error: result.error, error_description: result.description };
    }
    if ('consent' in result) {
      await this.allow(found, result.consent);
      return { consent: {} };
    }
    const { signedIn, organizationId } = result;
    const organization = organizationId === undefined ? {} : { organization: organizationId };
    const { userId, amr, authenticatedAt, authTime, connectionId } = signedIn;
    // Whoever has signed in before may have given a second factor since.
    const { session } = found;
    const isKnown = session?.accountId === userId && amr.every((one) => session.amr?.includes(one));
    if (found.prompt.name === 'organization' && isKnown) return organization;
    const ts = epochSeconds(authTime ?? authenticatedAt);
    const login = { accountId: userId, amr: [...amr], ts, remember: true, connectionId };
    const selected = found.prompt.name === SELECT_ACCOUNT ? { [SELECT_ACCOUNT]: {} } : {};
    return { login, authenticatedAt, authTime, ...organization, ...selected };
  }

  private async allow(
    { grantId, params, prompt }: ProviderInteraction,
    scopes: readonly string[],
  ): Promise<void> {
    const provider = await this.providers.current();
    const grant = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    if (!grant) throw new InteractionNotFound('The session has ended', againAt(params));
    const asked = textsOf(prompt.details['scopes']);
    grant.addOIDCScope(asked.filter((scope) => scopes.includes(scope)));
    grant.rejectOIDCScope(asked.filter((scope) => !scopes.includes(scope)));
    await grant.save();
  }

  private async find(request: IncomingMessage, response: ServerResponse): Promise<ProviderInteraction> {
    const provider = await this.providers.current();
    const [, uid] = /^\/oauth\/interactions\/([^/?]+)/.exec(request.url ?? '') ?? [];
    try {
      const found = await provider.interactionDetails(request, response);
      // A cookie of another sign-in, however it came here, does not answer for this one.
      if (uid === undefined || uid === found.uid) return found;
    } catch (cause) {
      if (!(cause instanceof errors.SessionNotFound)) throw cause;
    }
    const params = uid === undefined ? undefined : await available(this.states.beginningOf(uid));
    throw new InteractionNotFound('The sign-in is over, or of another browser', params && againAt(params));
  }

  private async signedInOf({ session }: ProviderInteraction): Promise<SignedIn | undefined> {
    if (!session) return undefined;
    const provider = await this.providers.current();
    const { loginTs = 0 } = (await provider.Session.findByUid(session.uid)) ?? {};
    const { accountId: userId, amr = [] } = session;
    const signIn = await this.grants.signInOf(session.uid, userId, new Date(loginTs * 1_000));
    return { userId, amr, ...signIn };
  }
}

function promptOf(name: string): InteractionPrompt {
  if (name === 'organization' || name === 'consent') return name;
  return 'login';
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
