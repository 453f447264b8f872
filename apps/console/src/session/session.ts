import {
  ErrorResponse,
  InMemoryWebStorage,
  UserManager,
  WebStorageStateStore,
  type User,
  type UserManagerSettings,
} from 'oidc-client-ts';
import { Attention } from './attention.ts';
import { ANSWERED_WITHIN_MS, readConfiguration, type Configuration } from './configuration.ts';
import { personOf, type Person } from './person.ts';

/** Where somebody stands with the Console. */
export type SessionState =
  | { kind: 'starting' }
  | { kind: 'signed-out' }
  /** The provider said no, by its own code: no membership, or the organization is suspended. */
  | { kind: 'refused'; code: string }
  /** The platform does not answer; it may be tried again. */
  | { kind: 'unreachable' }
  /** `ended`: the session ended under the page, which stays as it is until one has signed in again. */
  | { kind: 'signed-in'; person: Person; ended: boolean };

/** Answers of the provider that mean: a person has to do something on its pages. */
const INTERACTION = new Set([
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
]);

/** Answers that mean: nobody could say, and it may be asked again. The provider's database is away, or changes over. */
const OUTAGES = new Set(['temporarily_unavailable', 'server_error']);
/** Answers to a renewal that mean: it goes on with a new sign-in only. */
const ENDINGS = new Set([...INTERACTION, 'invalid_grant', 'access_denied', 'mfa_required']);

const PERMISSIONS_READ_EVERY_MS = 60_000;
/** Of a token's life so much is left for the request that it is taken for, in seconds. */
const LEFT_S = 15;
/**
 * Without anybody at the keyboard for so long no token is renewed: the default of `idle_minutes` (identity.md §5). The
 * provider counts from the last renewal on, so it ends the session that much later at most.
 */
export const UNATTENDED_AFTER_MS = 30 * 60_000;
/** The one page for who is not signed in. */
export const INVITATION = '/console/invitation';
/** Sent among the tabs when one of them signs out. */
const SIGNED_OUT = 'signed-out';

interface Return {
  to: string;
}

/** What the provider gave, and which organization it is of. */
interface Held {
  user: User;
  organizationId: string;
}

/** The platform did not say who is signed in; it may later. */
class Unanswered extends Error {}

/**
 * The sign-in of one tab. Tokens live in its memory alone: a reload asks the provider again, silently, in a frame of the
 * same origin. What stands in the tab's session storage is the state of one redirect, for as long as it takes.
 */
export class Session {
  private state: SessionState = { kind: 'starting' };
  private readonly listeners = new Set<() => void>();
  private connected: UserManager | undefined;
  private readonly attention: Attention;
  private readonly tabs = new BroadcastChannel('console-session');
  private readonly reading: ReturnType<typeof setInterval>;
  private held: Held | undefined;
  /** The provider is asked for one thing after the other: the last answer is the one that holds. */
  private turn: Promise<unknown> = Promise.resolve();
  private renewal: Promise<void> | undefined;
  /** Why the rights could not be read again, for who debugs. */
  lastFault: unknown;

  /** What is read of the configuration is read by `start`, which says so where nobody answers. */
  constructor(
    private readonly configuration: Configuration | (() => Promise<Configuration>) = readConfiguration,
    private readonly connect = (clientId: string): UserManager => new UserManager(settingsFor(clientId)),
    private readonly now = (): number => Date.now(),
  ) {
    this.attention = new Attention(window, now);
    this.tabs.addEventListener('message', ({ data }) => {
      if (data === SIGNED_OUT) this.forget();
    });
    // Rights change while one works: the menu follows.
    this.reading = setInterval(() => void this.readAgain(), PERMISSIONS_READ_EVERY_MS);
  }

  /** Ends what goes on by itself. */
  close(): void {
    clearInterval(this.reading);
    this.tabs.close();
    this.attention.close();
  }

  /** For React's external stores. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly current = (): SessionState => this.state;

  /**
   * Finishes a sign-in that comes back to the callback's address, or begins one silently, else by the provider's pages.
   * Answers the address to go on to, if it is another. Never rejects: what went wrong is where one stands then.
   */
  async start(location: Location): Promise<string | undefined> {
    try {
      const { configuration } = this;
      const { client_id } = typeof configuration === 'function' ? await configuration() : configuration;
      this.connected = this.connect(client_id);
      if (location.pathname === '/console/callback') {
        const user = await this.manager.signinRedirectCallback(location.href);
        await this.adopt(user);
        return (user.state as Return | undefined)?.to ?? '/console/';
      }
      const user = await this.manager.signinSilent({ ...organizationOf(location), forceIframeAuth: true });
      if (user) await this.adopt(user);
      return undefined;
    } catch (error) {
      return this.notStarted(error, location).catch((fault: unknown) => {
        this.lastFault = fault;
        this.become({ kind: 'unreachable' });
        return undefined;
      });
    }
  }

  /** Leaves for the provider's pages, and comes back to where one was. */
  async signIn(to = window.location.pathname + window.location.search): Promise<void> {
    await this.manager.signinRedirect({
      ...organizationOf(new URL(to, window.location.origin)),
      state: { to },
    });
  }

  /** The same for what takes an authentication of now: not by its age, which not every SSO provider tells. */
  async signInAnew(): Promise<void> {
    const to = window.location.pathname + window.location.search;
    await this.manager.signinRedirect({ ...organizationOf(window.location), prompt: 'login', state: { to } });
  }

  /** The same to take an invitation there, as whoever it was sent to: `proof` is of its token. */
  async signInToJoin(proof: string): Promise<void> {
    const extraQueryParams = { invitation: proof };
    await this.manager.signinRedirect({ extraQueryParams, prompt: 'login', state: { to: '/console/' } });
  }

  /** In a window of its own, so that the page under it keeps what was written there. */
  async signInAgain(): Promise<void> {
    if (this.state.kind !== 'signed-in') return this.signIn();
    const { person } = this.state;
    const user = await this.manager.signinPopup({
      extraQueryParams: { organization: person.organization.slug },
      login_hint: person.email,
    });
    if (user.profile.sub !== person.id) return window.location.reload();
    await this.inTurn(() => this.adopt(user));
  }

  /** The same person in another organization. Answers false when that needs the provider's pages. */
  async switchTo(slug: string, to: string): Promise<boolean> {
    try {
      const extraQueryParams = { organization: slug };
      await this.inTurn(async () => {
        const user = await this.manager.signinSilent({ extraQueryParams, forceIframeAuth: true });
        if (user) await this.adopt(user);
      });
      return true;
    } catch (error) {
      if (!needsPerson(error)) throw error;
      await this.signIn(to);
      return false;
    }
  }

  /** Ends the provider's session, and that of every tab. */
  async signOut(): Promise<void> {
    this.tabs.postMessage(SIGNED_OUT);
    const hint = this.held?.user.id_token;
    this.forget();
    await this.manager.signoutRedirect({ ...(hint === undefined ? {} : { id_token_hint: hint }) });
  }

  /**
   * The access tokens of one organization, each for the next request; renewed at its end, once for all who ask
   * meanwhile. Where one has gone to another organization since, what was begun in this one ends: it throws.
   *
   * A renewal is use of the session, and a page that nobody looks at does not use it: there the session shows as ended,
   * and who asks waits for a person.
   */
  tokensOf(organizationId: string): (options?: { renew?: boolean }) => Promise<string> {
    return async ({ renew = false } = {}) => {
      const { user } = this.heldFor(organizationId);
      const isOver = (user.expires_in ?? 0) <= LEFT_S;
      if (!renew && !isOver) return user.access_token;
      if (isOver) await this.attended();
      // Meanwhile another may have signed in again.
      const held = this.heldFor(organizationId);
      if (held.user !== user) return held.user.access_token;
      this.renewal ??= this.inTurn(() => this.renew()).finally(() => (this.renewal = undefined));
      await this.renewal;
      return this.heldFor(organizationId).user.access_token;
    };
  }

  /** Reads anew what one may do. */
  async readAgain(): Promise<void> {
    if (this.state.kind !== 'signed-in' || this.state.ended) return;
    try {
      const { id } = this.state.person.organization;
      const person = await this.personOf(await this.tokensOf(id)());
      if (this.state.kind === 'signed-in' && this.held?.organizationId === person.organization.id)
        this.become({ ...this.state, person });
    } catch (error) {
      // What was known stays on the page: where it is wrong by now, the platform itself refuses, and says so there.
      this.lastFault = error;
    }
  }

  private async attended(): Promise<void> {
    if (this.attention.within(UNATTENDED_AFTER_MS)) return;
    const wasEnded = this.state.kind === 'signed-in' && this.state.ended;
    this.became(true);
    await this.attention.next();
    // From here on it is the provider who says whether it has.
    if (!wasEnded) this.became(false);
  }

  private async renew(): Promise<void> {
    const before = this.held;
    if (before === undefined) throw new Error('Nobody is signed in');
    try {
      const user = await this.manager.signinSilent().catch((error: unknown) => {
        if (!(error instanceof ErrorResponse) || isOutage(error)) throw error;
        // The refresh token is over; the provider's own session may still be there.
        const extraQueryParams = { organization: before.organizationId };
        return this.manager.signinSilent({ extraQueryParams, forceIframeAuth: true });
      });
      const isSame =
        user?.profile.sub === before.user.profile.sub &&
        organizationOfToken(user.access_token) === before.organizationId;
      if (!isSame) throw new ErrorResponse({ error: 'login_required' });
      this.held = { ...before, user };
    } catch (error) {
      if (error instanceof ErrorResponse && ENDINGS.has(error.error ?? '')) this.became(true);
      throw error;
    }
  }

  private became(ended: boolean): void {
    if (this.state.kind === 'signed-in' && this.state.ended !== ended) this.become({ ...this.state, ended });
  }

  /** @throws before `start` has read where the provider is */
  private get manager(): UserManager {
    if (this.connected === undefined) throw new Unanswered('The provider is not known yet');
    return this.connected;
  }

  private heldFor(organizationId: string): Held {
    const { held } = this;
    if (held?.organizationId !== organizationId) throw new Error('One is signed in elsewhere by now');
    return held;
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.turn.then(work);
    this.turn = done.catch((error: unknown) => (this.lastFault = error));
    return done;
  }

  /** Token and person change together: until the platform has said who it is, all stays as it was. */
  private async adopt(user: User): Promise<void> {
    const person = await this.personOf(user.access_token);
    this.held = { user, organizationId: person.organization.id };
    this.become({ kind: 'signed-in', person, ended: false });
  }

  /** @throws ErrorResponse where the token is good for nothing; Unanswered where nobody could say */
  private async personOf(token: string): Promise<Person> {
    const response = await fetch('/oauth/userinfo', {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
    });
    if (response.status === 401) throw new ErrorResponse({ error: 'login_required' });
    if (!response.ok) throw new Unanswered(`The platform answered ${response.status}`);
    return personOf((await response.json()) as Parameters<typeof personOf>[0]);
  }

  private async notStarted(error: unknown, location: Location): Promise<undefined> {
    // An invitation is for who has no account yet.
    if (needsPerson(error) && location.pathname === INVITATION) this.become({ kind: 'signed-out' });
    else if (needsPerson(error))
      await this.signIn(location.pathname === '/console/callback' ? '/console/' : undefined);
    else if (error instanceof ErrorResponse && !isOutage(error))
      this.become({ kind: 'refused', code: error.error ?? 'unknown' });
    // A callback that was opened again: its state is used up.
    else if (location.pathname === '/console/callback' && isUsedUp(error)) await this.signIn('/console/');
    else this.become({ kind: 'unreachable' });
  }

  private forget(): void {
    this.held = undefined;
    void this.connected?.removeUser();
    this.become({ kind: 'signed-out' });
  }

  private become(state: SessionState): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}

/** The organization that an address of the Console is of: `/console/o/<slug>/…`. */
function organizationOf({ pathname }: { pathname: string }): { extraQueryParams?: { organization: string } } {
  const slug = /^\/console\/o\/([a-z0-9-]{3,63})(?:\/|$)/.exec(pathname)?.[1];
  return slug === undefined ? {} : { extraQueryParams: { organization: slug } };
}

/** What the library says of a state that it does not know, or no more. */
function isUsedUp(error: unknown): boolean {
  return error instanceof Error && /state/i.test(error.message) && !(error instanceof Unanswered);
}

/** Which organization an access token is of; the platform checks it, this only reads. */
function organizationOfToken(token: string): unknown {
  const claims = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  return (JSON.parse(atob(claims)) as { org_id?: unknown }).org_id;
}

function needsPerson(error: unknown): boolean {
  return error instanceof ErrorResponse && INTERACTION.has(error.error ?? '');
}

function isOutage(error: ErrorResponse): boolean {
  return OUTAGES.has(error.error ?? '');
}

function settingsFor(client_id: string): UserManagerSettings {
  const at = (path: string): string => `${window.location.origin}/console/${path}`;
  return {
    authority: window.location.origin,
    client_id,
    redirect_uri: at('callback'),
    silent_redirect_uri: at('silent.html'),
    popup_redirect_uri: at('silent.html'),
    post_logout_redirect_uri: at(''),
    scope: 'openid profile email offline_access organization',
    automaticSilentRenew: false,
    monitorSession: false,
    loadUserInfo: false,
    userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    stateStore: new WebStorageStateStore({ store: window.sessionStorage }),
    silentRequestTimeoutInSeconds: ANSWERED_WITHIN_MS / 1_000,
    requestTimeoutInSeconds: ANSWERED_WITHIN_MS / 1_000,
  };
}
