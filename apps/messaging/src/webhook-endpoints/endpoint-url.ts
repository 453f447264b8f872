import {
  DestinationNotAllowed,
  isAllowedPort,
  isLoopbackHost,
  resolveDestination,
  type ResolveHost,
} from '@customer-platform/outbound';
import { Problem } from '@customer-platform/problem-json';

const NOT_HTTPS = 'Expected an https address.';
const REFUSED = { pointer: '/url', code: 'destination_not_allowed' } as const;
const NOT_PUBLIC = 'The host must resolve to public addresses only.';
const OTHER_PORT = 'The port must be 443 or 80, or one that this installation calls.';

/** What of an installation decides where endpoints may lead. */
interface EndpointRules {
  readonly local: boolean;
  readonly outboundPorts: readonly number[];
}

/**
 * Checks where an endpoint leads: https, without user or fragment, to public addresses and the ports that are called
 * only; in local mode this very machine too, by http as well. It is checked again at every try: a name may lead elsewhere tomorrow.
 * @throws Problem `validation_failed` (400), `destination_not_allowed` (422)
 */
export async function checkEndpointUrl(
  text: string,
  { local, outboundPorts: ports }: EndpointRules,
  resolve?: ResolveHost,
): Promise<void> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const objection = url ? objectionTo(url, local) : NOT_HTTPS;
  if (!url || objection !== undefined)
    throw Problem.validation([{ pointer: '/url', code: 'invalid_format', detail: objection ?? NOT_HTTPS }]);
  if (!isAllowedPort(url, { allowLoopback: local, ports }))
    throw Problem.validation([{ ...REFUSED, detail: OTHER_PORT }]);
  try {
    await resolveDestination(url.hostname, local, resolve);
  } catch (error) {
    // A name that does not resolve today may tomorrow; nothing is sent to it until then.
    if (error instanceof DestinationNotAllowed)
      throw Problem.validation([{ ...REFUSED, detail: NOT_PUBLIC }]);
  }
}

function objectionTo(url: URL, local: boolean): string | undefined {
  if (url.username !== '' || url.password !== '') return 'An address with a user or password is not taken.';
  if (url.hash !== '') return 'An address with a fragment is not taken.';
  if (url.protocol === 'https:') return undefined;
  return url.protocol === 'http:' && local && isLoopbackHost(url.hostname) ? undefined : NOT_HTTPS;
}
