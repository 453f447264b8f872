import type { IncomingMessage } from 'node:http';
import passport from 'passport';
import type { AuthenticatedCaller } from '../context/request-context.js';

/** Kinds of credentials: each has its strategy where it is verified. */
export const CREDENTIAL_NAMES = [
  'api_credential',
  'member_token',
  'tenant_token',
  'service_token',
  'client_secret',
  'provider_signature',
  'signed_link',
] as const;

/** A kind of credentials. */
export type CredentialName = (typeof CREDENTIAL_NAMES)[number];

/** A module that calls another one. */
export interface CallingModule {
  readonly module: string;
}

/** Principals by kind: whoever acts in an organization, a module, or what a signature is of, which its module knows. */
export interface Principals extends Record<CredentialName, object> {
  readonly api_credential: AuthenticatedCaller;
  readonly member_token: AuthenticatedCaller;
  readonly tenant_token: AuthenticatedCaller;
  readonly service_token: CallingModule;
}

/** Stands for the request before passport, which puts its methods for sessions on whatever it is given. */
export interface Bearer {
  /** Undefined once its strategy has ended. */
  request: IncomingMessage | undefined;
  principal?: object;
}

const PRINCIPAL = 'principal' satisfies keyof Bearer;

type Middleware = (bearer: Bearer, response: object, next: (error?: unknown) => void) => void;

/** The strategies of one application. `passport` itself has one list for a process, in which applications of tests meet. */
export class ApplicationPassport {
  /** What strategies register with. */
  readonly strategies = new passport.Passport();
  private readonly names = new Set<string>();
  /** Middlewares by the options of their route: to make one for each request would cost more than what it does. */
  private readonly middlewares = new WeakMap<object, Map<CredentialName, Middleware>>();

  /**
   * Notes that a strategy is there.
   * @throws Error where there is one: passport would ask the one that came last, and nobody would see who decides
   */
  note(name: CredentialName): void {
    if (this.names.has(name)) throw new Error(`There are two strategies of the credential ${name}.`);
    this.names.add(name);
  }

  has(name: CredentialName): boolean {
    return this.names.has(name);
  }

  /**
   * Resolves to whom or what the request's credential stands for; to undefined where it has none and need not have one.
   * @param options what the strategy is told beside the request: the same object for all requests of a route
   * @throws whatever the strategy refuses it with
   */
  authenticate<Name extends CredentialName>(
    name: Name,
    request: IncomingMessage,
    options: object,
  ): Promise<Principals[Name] | undefined> {
    const bearer: Bearer = { request };
    return new Promise((resolve, reject) => {
      // No strategy answers by itself, so none is given the response. What passport makes for a request outlives it in the
      // collector's old generation, with all that it holds: by then neither request nor response.
      this.middlewareOf(name, options)(bearer, {}, (error) => {
        bearer.request = undefined;
        // A strategy that passes has found no credential.
        // It is the one of this name, which returns what its name says.
        if (!error) resolve(bearer.principal as Principals[Name] | undefined);
        else reject(error instanceof Error ? error : new Error('A strategy failed', { cause: error }));
      });
    });
  }

  private middlewareOf(name: CredentialName, options: object): Middleware {
    let known = this.middlewares.get(options);
    if (!known) {
      known = new Map<CredentialName, Middleware>();
      this.middlewares.set(options, known);
    }
    let middleware = known.get(name);
    if (!middleware) {
      const all = {
        ...options,
        session: false,
        authInfo: false,
        assignProperty: PRINCIPAL,
        failWithError: true,
      };
      middleware = this.strategies.authenticate(name, all) as Middleware;
      known.set(name, middleware);
    }
    return middleware;
  }
}
