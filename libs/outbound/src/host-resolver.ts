import { lookup, Resolver } from 'node:dns/promises';

/** An address a name has. */
interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name. Throws what the resolver throws when it has none. */
export type ResolveHost = (host: string) => Promise<readonly HostAddress[]>;

const TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * Asks DNS without a thread. `getaddrinfo` holds one of the process's four threads for as long as a name server is
 * silent, so that one customer's dead zone would keep everybody else from resolving; it is left for `localhost` alone,
 * which no name server is to be asked for (RFC 6761).
 */
export const resolveHost: ResolveHost = async (host) => {
  if (/^(?:.*\.)?localhost\.?$/i.test(host)) return lookup('localhost', { all: true, verbatim: true });
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
  return [...addresses(four, 4), ...addresses(six, 6)];
};

function addresses(found: PromiseSettledResult<string[]>, family: number): HostAddress[] {
  return found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
}
