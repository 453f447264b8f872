import { canonicalLocale, cutEnds, readEmail } from '@customer-platform/http';
import { keptAddress } from '../vocabulary/is-email-address.js';

/** What a provider says of a person, as it is believed. */
export interface ProviderPerson {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case, and only where the provider vouches for it. */
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly locale: string | null;
  /** When they authenticated there. */
  readonly authTime: Date | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

const LONGEST_NAME = 80;
/** The year 2100. */
const LATEST_S = 4_102_444_800;

/** Reads the claims of providers, which differ in how they tell that an address is the person's. */
export function personIn(issuer: string, subject: string, claims: Claims): ProviderPerson {
  return {
    issuer,
    subject,
    email: verifiedEmail(claims),
    name: nameIn(claims),
    locale: localeIn(claims),
    authTime: authTimeIn(claims),
  };
}

/**
 * `email_verified` is the standard's claim (Google, Okta, Keycloak). Entra has none: whoever administers a tenant writes
 * any address into it, and `xms_edov` says that the domain's owner has proven it. Without either it is hearsay.
 */
function verifiedEmail(claims: Claims): string | undefined {
  const { email } = claims;
  const isVerified = saysYes(claims['email_verified']) || saysYes(claims['xms_edov']);
  if (typeof email !== 'string' || !isVerified) return undefined;
  return readEmail(email) ? keptAddress(email) : undefined;
}

/** Some write truth as a text or a number. */
function saysYes(value: unknown): boolean {
  return value === true || value === 'true' || value === 1 || value === '1';
}

function nameIn(claims: Claims): string | undefined {
  const parts = [claims['given_name'], claims['family_name']].filter(isText).join(' ');
  const name = [claims['name'], parts, claims['preferred_username']].find(isText);
  // Control characters have no place in a name, and none in the mails that carry it.
  const plain = cutEnds(name?.replaceAll(/\p{C}+/gu, ' ') ?? '');
  return cutEnds(plain.slice(0, LONGEST_NAME).toWellFormed()) || undefined;
}

function localeIn({ locale }: Claims): string | null {
  return typeof locale === 'string' && locale.length <= 35
    ? (canonicalLocale(locale.replaceAll('_', '-')) ?? null)
    : null;
}

/** Seconds of a past that a clock can have; whatever else it says is as good as nothing. */
function authTimeIn({ auth_time: seconds }: Claims): Date | undefined {
  const isTime = typeof seconds === 'number' && seconds > 0 && seconds < LATEST_S;
  return isTime ? new Date(Math.floor(seconds) * 1_000) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && cutEnds(value) !== '';
}
