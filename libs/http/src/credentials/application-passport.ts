import type { IncomingMessage } from 'node:http';
import passport from 'passport';
import type { Request, Response } from 'express';

/** Kinds of credentials: each has its strategy where it is verified. */
export type CredentialName =
  'api_credential' | 'member_token' | 'tenant_token' | 'service_token' | 'provider_signature' | 'signed_link';

/** The strategies of one application. `passport` itself has one list for a process, in which applications of tests meet. */
export class ApplicationPassport {
  /** What strategies register with. */
  readonly strategies = new passport.Passport();
  private readonly names = new Set<string>();

  /** Notes that a strategy is there. */
  note(name: CredentialName): void {
    this.names.add(name);
  }

  has(name: CredentialName): boolean {
    return this.names.has(name);
  }

  /**
   * Whom or what the request's credential stands for; undefined where it has none and need not have one.
   * @throws whatever the strategy refuses it with
   */
  authenticate(
    name: CredentialName,
    request: IncomingMessage,
    response: Response,
    options: object,
  ): Promise<object | undefined> {
    return new Promise((resolve, reject) => {
      const end = (error: unknown, user?: object | false | null): void => {
        if (error) reject(error instanceof Error ? error : new Error('A strategy failed', { cause: error }));
        else resolve(user || undefined);
      };
      const handler = this.strategies.authenticate(name, { ...options, session: false }, end) as (
        request: Request,
        response: Response,
        next: (error?: unknown) => void,
      ) => void;
      // A strategy that passes has found no credential.
      handler(request as Request, response, (error) => end(error));
    });
  }
}
