import { InvalidArgumentError, Option } from '@customer-platform/cli';
import { consoleConfig, httpUrl, readConfig } from '@customer-platform/config';
import { canonicalLocale, canonicalTimeZone } from '@customer-platform/http';

import { isConsoleUrl } from '../oauth-clients/console-client.js';

const SLUG = /^[a-z0-9-]{3,63}$/;
const HIGHEST_RATE = 100_000;

/** A name of 1 to 80 characters. */
export const nameOption = (): Option =>
  new Option('--name <name>', 'its name, 1 to 80 characters').argParser((name) => {
    if (name.trim() !== '' && [...name].length <= 80) return name;
    throw new InvalidArgumentError('It takes 1 to 80 characters.');
  });

/** A slug as identity.md §2 has it. */
export const slugOption = (flag = '--slug <slug>', description = 'its slug'): Option =>
  new Option(flag, description).argParser(readSlug);

/** A slug as identity.md §2 has it. */
export function readSlug(slug: string): string {
  if (SLUG.test(slug)) return slug;
  throw new InvalidArgumentError('It takes 3 to 63 of a-z, 0-9 and the dash.');
}

/** A language tag such as `es-CL`. */
export const localeOption = (): Option =>
  new Option('--locale <tag>', 'its language, such as es-CL').argParser(
    canonical(canonicalLocale, 'a language tag such as es-CL'),
  );

/** An IANA time zone such as `America/Santiago`. */
export const timezoneOption = (): Option =>
  new Option('--timezone <zone>', 'its time zone, such as America/Santiago').argParser(
    canonical(canonicalTimeZone, 'an IANA time zone such as America/Santiago'),
  );

/** Below which address the Console is. */
export const consoleOption = (flag: string): Option =>
  new Option(
    flag,
    'the address below which the Console is, at /console/ (default: CONSOLE_URL, else PUBLIC_URL)',
  ).argParser((given) => {
    const { data } = httpUrl().safeParse(given);
    if (data !== undefined && isConsoleUrl(data)) return data;
    throw new InvalidArgumentError(`It takes ${CONSOLE_ADDRESS}.`);
  });

/** What {@link consoleOption} takes. */
export const CONSOLE_ADDRESS = 'an https address, or an http one of this machine';

/** Where the environment says that the Console is; undefined where no client can be sent. */
export function consoleUrlOfEnvironment(): string | undefined {
  const { CONSOLE_URL, PUBLIC_URL } = readConfig(consoleConfig);
  return [CONSOLE_URL ?? PUBLIC_URL].find(isConsoleUrl);
}

/** Events per second. */
export const rateOption = (flag: string, description: string): Option =>
  new Option(flag, description).argParser((given) => {
    const value = Number(given);
    if (Number.isInteger(value) && value >= 1 && value <= HIGHEST_RATE) return value;
    throw new InvalidArgumentError(`It takes a whole number from 1 to ${String(HIGHEST_RATE)}.`);
  });

function canonical(of: (text: string) => string | undefined, what: string): (text: string) => string {
  return (text) => {
    const found = of(text);
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`It takes ${what}.`);
  };
}
