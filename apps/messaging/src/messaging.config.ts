import { addressPeppersConfig, encryptionConfig, readConfig, serviceConfig } from '@customer-platform/config';
import { z } from 'zod';
import { checkAddress } from './addresses/address.js';

/** The platform's own way out, which every organization has in local mode until it configures its own. */
export interface PlatformSmtp {
  readonly host: string;
  readonly port: number;
  readonly security: 'none' | 'tls';
  readonly username?: string;
  readonly password?: string;
  readonly from: string;
}

/** What messaging reads of its environment. */
export interface MessagingConfig {
  readonly local: boolean;
  readonly worker: boolean;
  /** The gateway's base address, of links in messages. */
  readonly publicUrl: string;
  readonly addressPeppers: readonly string[];
  readonly encryptionKey: Buffer;
  readonly platformSmtp: PlatformSmtp | undefined;
}

/** Injection token of the {@link MessagingConfig}. */
export const MESSAGING_CONFIG = Symbol('MESSAGING_CONFIG');

const ownConfig = z.object({
  SMTP_URL: z
    .string()
    .refine(
      (text) => URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol),
      'must be smtp:// or smtps://',
    )
    .optional(),
  SMTP_FROM: z
    .string()
    .refine((text) => checkAddress('email', text) !== undefined, 'must be an e-mail address')
    .default('no-reply@customer-platform.example'),
});

/** Reads the environment. @throws ConfigError naming what is missing or wrong */
export function messagingConfig(environment?: NodeJS.ProcessEnv): MessagingConfig {
  const shape = z.object({
    ...serviceConfig.shape,
    ...addressPeppersConfig.shape,
    ...encryptionConfig.shape,
    ...ownConfig.shape,
  });
  const read = environment === undefined ? readConfig(shape) : readConfig(shape, environment);
  return {
    local: read.PLATFORM_MODE === 'local',
    worker: read.PROCESS_ROLE !== 'api',
    publicUrl: read.PUBLIC_URL.replace(/\/$/, ''),
    addressPeppers: read.ADDRESS_PEPPERS,
    encryptionKey: Buffer.from(read.ENCRYPTION_KEY),
    platformSmtp:
      read.SMTP_URL === undefined ? undefined : platformSmtp(new URL(read.SMTP_URL), read.SMTP_FROM),
  };
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
