import type { IncomingMessage } from 'node:http';
import { PassportStrategy } from '@nestjs/passport';
import passport from 'passport';
import { stateOf } from '../context/request-state.js';
import { readBytes } from '../reading/read-body.js';
import type { ApplicationPassport, Bearer, CredentialName, Principals } from './application-passport.js';

type Verified = (error: unknown, principal?: object | null) => void;
type Verify = (request: IncomingMessage, options: object, done: Verified) => void;

/** A strategy of passport's that is given the whole request and registers with its own application. */
class RequestStrategy extends passport.Strategy {
  constructor(
    readonly application: ApplicationPassport,
    readonly verify: Verify,
  ) {
    super();
  }

  override authenticate(bearer: unknown, options: object): void {
    const { request } = bearer as Bearer;
    if (!request) throw new Error('A strategy is asked once a request');
    this.verify(request, options, (error, principal) => {
      if (error) this.error(error);
      else if (principal) this.success(principal);
      else this.pass();
    });
  }
}

/**
 * The strategy of a kind of credential, to be extended by whoever verifies it:
 * `class Keys extends CredentialStrategy('api_credential')`, whose constructor hands on the `ApplicationPassport`.
 * `validate(request, options)` resolves to the principal, which `request.user` is then; to undefined where there is no
 * credential and none is needed; or throws the `Problem` that the caller is answered.
 */
export function CredentialStrategy<Name extends CredentialName>(name: Name) {
  // `PassportStrategy` gives the verifying function itself, as the last argument.
  const Mixin = PassportStrategy(RequestStrategy, name) as unknown as new (
    application: ApplicationPassport,
  ) => RequestStrategy;
  abstract class Named extends Mixin {
    /** Called by the constructor of `PassportStrategy`. */
    getPassportInstance(): ApplicationPassport['strategies'] {
      this.application.note(name);
      return this.application.strategies;
    }

    abstract validate(
      request: IncomingMessage,
      options: never,
    ): Principals[Name] | undefined | Promise<Principals[Name] | undefined>;
  }
  return Named;
}

/** The bytes of the body for a strategy that verifies them, on routes with `body: 'raw'`; the handler is given the same. */
export async function rawBodyOf(request: IncomingMessage): Promise<Buffer> {
  const state = stateOf(request);
  if (!state.route) throw new Error('A strategy is asked before its route is known');
  state.rawBody ??= await readBytes(request, state.route);
  return state.rawBody;
}
