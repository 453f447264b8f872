import {
  DestinationNotAllowed,
  isAllowedPort,
  isLoopbackHost,
  resolveDestination,
} from '@customer-platform/outbound';
import { Problem } from '@customer-platform/problem-json';

const NOT_HTTPS = 'Expected an https address.';
const OTHER_PORT = 'The port must be 443 or 80, or one that this installation calls.';

/** What of an installation decides where issuers may be. */
interface IssuerRules {
  readonly local: boolean;
  readonly outboundPorts: readonly number[];
}

/**
 * Checks where an issuer is: https, without user, query or fragment, at public addresses and the ports that are
 * called only; in local mode this very machine too, by http as well. It is checked again at every call: a name may lead elsewhere tomorrow.
 * @throws Problem `validation_failed` (400), `destination_not_allowed` (422)
 */
export async function checkIssuer(text: string, { local, outboundPorts: ports }: IssuerRules): Promise<void> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const objection = url ? objectionTo(url, text, local) : NOT_HTTPS;
  if (!url || objection !== undefined)
    throw Problem.validation([
      { pointer: '/issuer', code: 'invalid_format', detail: objection ?? NOT_HTTPS },
    ]);
  if (!isAllowedPort(url, { allowLoopback: local, ports })) throw notAllowed(OTHER_PORT);
  try {
    await resolveDestination(url.hostname, local);
  } catch (error) {
    // A name that does not resolve today may tomorrow; it is asked again before anything is sent there.
    if (!(error instanceof DestinationNotAllowed)) return;
    throw notAllowed('The host must resolve to public addresses only.');
  }
}

function notAllowed(detail: string): Problem {
  return Problem.validation([{ pointer: '/issuer', code: 'destination_not_allowed', detail }]);
}

function objectionTo(url: URL, text: string, local: boolean): string | undefined {
  if (url.username !== '' || url.password !== '') return 'An issuer with a user or password is not taken.';
  if (/[?#\s]/.test(text)) return 'An issuer has neither query nor fragment nor blanks.';
  if (url.protocol === 'https:') return undefined;
  return url.protocol === 'http:' && local && isLoopbackHost(url.hostname) ? undefined : NOT_HTTPS;
}
