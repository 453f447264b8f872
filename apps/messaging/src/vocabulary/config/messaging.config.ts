import {
  addressPeppersConfig,
  ConfigError,
  encryptionConfig,
  keyringOf,
  outboundConfig,
  readConfig,
  returnedMailConfig,
  senderDomainsConfig,
  serviceConfig,
  type Keyring,
} from '@customer-platform/config';
import { z } from 'zod';
import { checkAddress } from '../addresses/address.js';
import { isStandardSecret } from '../signatures/standard-webhooks.js';

/** A mail server of the platform's own. */
export interface PlatformSmtp {
  readonly host: string;
  readonly port: number;
  readonly security: 'none' | 'starttls' | 'tls';
  readonly username?: string;
  readonly password?: string;
  readonly from: string;
}

/** The platform's own provider of the other channels. */
export interface PlatformProvider {
  readonly url: string;
  /** Of Standard Webhooks: signs what goes there and checks what it reports. */
  readonly secret: string;
}

/** What messaging reads of its environment. */
export interface MessagingConfig {
  readonly local: boolean;
  readonly worker: boolean;
  /** The gateway's base address, of links in messages. */
  readonly publicUrl: string;
  readonly addressPeppers: readonly string[];
  /** What keyed hashes and signatures are derived from. */
  readonly encryptionKey: Buffer;
  /** What secrets at rest are sealed by. */
  readonly keyring: Keyring;
  /** What every organization has in local mode until it configures its own. */
  readonly platformSmtp: PlatformSmtp | undefined;
  /** By which identity's mail leaves (identity.md §3), whatever organizations configure; undefined: it is held. */
  readonly identitySmtp: PlatformSmtp | undefined;
  readonly platformProvider: PlatformProvider | undefined;
  /** Ports that addresses of organizations may name beside 80 and 443. */
  readonly outboundPorts: readonly number[];
  /** Whom to ask for the records of sender domains; undefined: the system's name servers. */
  readonly dnsServers: readonly string[] | undefined;
  /** Whether mail leaves from verified domains only; never in local mode. */
  readonly senderDomainsRequired: boolean;
  /** The name whose SPF record lists the servers that mail leaves by. */
  readonly spfInclude: string | undefined;
  /** The host name of return paths; undefined: mail has none of the platform's. */
  readonly returnHost: string | undefined;
  /** Where returned mail is taken; undefined: nowhere. */
  readonly returnSmtp: { readonly host: string; readonly port: number } | undefined;
}

/** Injection token of the {@link MessagingConfig}. */
export const MESSAGING_CONFIG = Symbol('MESSAGING_CONFIG');

/** Deployments name what they do not set as the empty text. */
const unlessEmpty = <T extends z.ZodType>(shape: T) =>
  z.preprocess((given) => (given === '' ? undefined : given), shape.optional());
const smtpUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol),
    'must be smtp:// or smtps://',
  );
const senderAddress = z
  .string()
  .refine((text) => checkAddress('email', text) !== undefined, 'must be an e-mail address');

const ownConfig = z.object({
  SMTP_URL: unlessEmpty(smtpUrl),
  SMTP_FROM: senderAddress.default('no-reply@customer-platform.example'),
  PLATFORM_SMTP_URL: unlessEmpty(smtpUrl),
  PLATFORM_SMTP_FROM: unlessEmpty(senderAddress),
  PROVIDER_URL: z.url({ protocol: /^https?$/, error: 'must be http:// or https://' }).optional(),
  PROVIDER_SECRET: z
    .string()
    .refine(isStandardSecret, 'must be whsec_ and 24 to 64 bytes in base64')
    .optional(),
});

/** Reads the environment. @throws ConfigError naming what is missing or wrong */
export function messagingConfig(environment?: NodeJS.ProcessEnv): MessagingConfig {
  const shape = z.object({
    ...serviceConfig.shape,
    ...addressPeppersConfig.shape,
    ...encryptionConfig.shape,
    ...senderDomainsConfig.shape,
    ...returnedMailConfig.shape,
    ...outboundConfig.shape,
    ...ownConfig.shape,
  });
  const read = environment === undefined ? readConfig(shape) : readConfig(shape, environment);
  const local = read.PLATFORM_MODE === 'local';
  const identityUrl = read.PLATFORM_SMTP_URL ?? (local ? read.SMTP_URL : undefined);
  return {
    local,
    worker: read.PROCESS_ROLE !== 'api',
    publicUrl: read.PUBLIC_URL.replace(/\/$/, ''),
    addressPeppers: read.ADDRESS_PEPPERS,
    encryptionKey: Buffer.from(read.ENCRYPTION_KEY),
    keyring: keyringOf(read),
    platformSmtp:
      read.SMTP_URL === undefined ? undefined : platformSmtp(new URL(read.SMTP_URL), read.SMTP_FROM),
    identitySmtp: identityUrl === undefined ? undefined : identitySmtp(identityUrl, read, local),
    platformProvider: platformProvider(read.PROVIDER_URL, read.PROVIDER_SECRET),
    outboundPorts: read.OUTBOUND_PORTS ?? [],
    dnsServers: read.SENDER_DNS_SERVERS,
    senderDomainsRequired: !local && read.SENDER_DOMAINS_REQUIRED,
    spfInclude: read.SENDER_SPF_INCLUDE,
    returnHost: read.RETURN_HOST,
    returnSmtp: returnSmtp(read),
  };
}

/** @throws ConfigError where nobody could say what to write to */
function returnSmtp({
  RETURN_HOST: name,
  RETURN_SMTP_PORT: port,
  HOST: host,
}: {
  RETURN_HOST?: string | undefined;
  RETURN_SMTP_PORT?: number | undefined;
  HOST: string;
}): MessagingConfig['returnSmtp'] {
  if (port === undefined) return undefined;
  if (name === undefined) throw new ConfigError('RETURN_SMTP_PORT needs RETURN_HOST.');
  return { host, port };
}

/** @throws ConfigError where one of the two is there without the other */
function platformProvider(url: string | undefined, secret: string | undefined): PlatformProvider | undefined {
  if ((url === undefined) !== (secret === undefined))
    throw new ConfigError('PROVIDER_URL and PROVIDER_SECRET go together.');
  return url === undefined || secret === undefined ? undefined : { url, secret };
}

/**
 * What it carries opens accounts: outside of this machine it never travels in the clear. `smtp://` is STARTTLS there,
 * without which nothing is said to the server.
 */
function identitySmtp(
  url: string,
  {
    PLATFORM_SMTP_FROM: own,
    SMTP_FROM: common,
  }: { PLATFORM_SMTP_FROM?: string | undefined; SMTP_FROM: string },
  local: boolean,
): PlatformSmtp {
  const smtp = platformSmtp(new URL(url), own ?? common);
  const near = local || /^(?:127\.0\.0\.1|\[::1\]|localhost)$/.test(smtp.host);
  return smtp.security === 'none' && !near ? { ...smtp, security: 'starttls' } : smtp;
}

function platformSmtp(url: URL, from: string): PlatformSmtp {
  const secure = url.protocol === 'smtps:';
  return {
    host: url.hostname,
    port: Number(url.port) || (secure ? 465 : 25),
    security: secure ? 'tls' : 'none',
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    from,
  };
}
