import { canonicalLocale, canonicalTimeZone } from '@customer-platform/http';
import type { RateLimits } from '../organizations/organization-settings.js';
import { OperatorRefusal, type KeyPurpose } from './operator.js';
import type { OptionValues } from './run-command.js';

const SLUG = /^[a-z0-9-]{3,63}$/;
const HIGHEST_RATE = 100_000;

/** The text of an option, or undefined. */
export function text(values: OptionValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** A name of 1 to 80 characters. */
export function nameOption(values: OptionValues): string | undefined {
  const name = text(values, 'name');
  if (name !== undefined && (name.trim() === '' || [...name].length > 80)) {
    throw new OperatorRefusal('--name takes 1 to 80 characters.', 2);
  }
  return name;
}

/** A slug as identity.md §2 has it. */
export function slugOption(values: OptionValues, name = 'slug'): string | undefined {
  const slug = text(values, name);
  if (slug !== undefined && !SLUG.test(slug)) {
    throw new OperatorRefusal(`--${name} takes 3 to 63 of a-z, 0-9 and the dash.`, 2);
  }
  return slug;
}

/** A language tag such as `es-CL`. */
export function localeOption(values: OptionValues): string | undefined {
  const locale = text(values, 'locale');
  if (locale === undefined) return undefined;
  const canonical = canonicalLocale(locale);
  if (canonical === undefined) throw new OperatorRefusal('--locale takes a language tag such as es-CL.', 2);
  return canonical;
}

/** An IANA time zone such as `America/Santiago`. */
export function timezoneOption(values: OptionValues): string | undefined {
  const timezone = text(values, 'timezone');
  if (timezone === undefined) return undefined;
  const canonical = canonicalTimeZone(timezone);
  if (canonical === undefined) {
    throw new OperatorRefusal('--timezone takes an IANA time zone such as America/Santiago.', 2);
  }
  return canonical;
}

/** Both rate limits or neither. */
export function rateLimitOptions(values: OptionValues): RateLimits | undefined {
  const key = rate(values, 'rate-limit-key');
  const organization = rate(values, 'rate-limit-organization');
  if (key === undefined && organization === undefined) return undefined;
  if (key === undefined || organization === undefined) {
    throw new OperatorRefusal('Give both --rate-limit-key and --rate-limit-organization, or neither.', 2);
  }
  return { key_per_second: key, organization_per_second: organization };
}

/** Which keys to issue. */
export function issueOption(values: OptionValues): KeyPurpose[] {
  const wishes = Array.isArray(values['issue']) ? values['issue'] : [];
  return wishes.map((wish) => {
    if (wish === 'ingestion' || wish === 'administrator') return wish;
    throw new OperatorRefusal('--issue takes ingestion or administrator.', 2);
  });
}

function rate(values: OptionValues, name: string): number | undefined {
  const given = text(values, name);
  if (given === undefined) return undefined;
  const value = Number(given);
  if (!Number.isInteger(value) || value < 1 || value > HIGHEST_RATE) {
    throw new OperatorRefusal(`--${name} takes a whole number from 1 to ${String(HIGHEST_RATE)}.`, 2);
  }
  return value;
}
