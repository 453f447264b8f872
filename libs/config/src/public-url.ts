import { isIPv4 } from 'node:net';
import { ConfigError } from './read-config.js';

const LOCAL = 'PLATFORM_MODE=local is for the machine that it runs on: PUBLIC_URL must lead to localhost';
const PRODUCTION = 'PUBLIC_URL must be the https:// address by which the platform is reached';

/**
 * Refuses an installation that says of itself what it is not. Local mode shows anybody the mail that it sends, so it is
 * reached at this machine alone. In production what people open from mails, and who signs tokens, is an https address.
 * @throws ConfigError
 */
export function demandPublicUrl(read: {
  readonly PLATFORM_MODE: 'local' | 'production';
  readonly PUBLIC_URL: string;
}): void {
  const { protocol, hostname } = new URL(read.PUBLIC_URL);
  if (read.PLATFORM_MODE === 'local' && !isThisMachine(hostname)) throw new ConfigError(`${LOCAL}.`);
  if (read.PLATFORM_MODE === 'production' && protocol !== 'https:') throw new ConfigError(`${PRODUCTION}.`);
}

/** Of a URL's host, which writes addresses in one way. */
function isThisMachine(host: string): boolean {
  return (
    /^(?:.+\.)?localhost\.?$/.test(host) || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
  );
}
