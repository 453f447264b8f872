import {
  ConfigError,
  demandKafkaAuthentication,
  kafkaSecurityConfig,
  readConfig,
  readTlsFiles,
  serviceConfig,
  type KafkaSecurityConfig,
} from '@customer-platform/config';
import type { KafkaConfig } from 'kafkajs';
import { fetchedToken, tokenOfFile } from './oauth-token.js';

type Security = Pick<KafkaConfig, 'ssl' | 'sasl'>;

/**
 * How the brokers are spoken to: TLS and SASL as the environment says; in production never without saying who we are,
 * unless that is allowed.
 * @throws ConfigError of one sentence that names variables and never a value
 */
export function kafkaSecurity(): Security {
  const config = readConfig(kafkaSecurityConfig);
  const { PLATFORM_MODE } = readConfig(serviceConfig.pick({ PLATFORM_MODE: true }));
  demandKafkaAuthentication({ PLATFORM_MODE, ...config });
  const bare = config.KAFKA_SASL_MECHANISM === 'plain' || config.KAFKA_SASL_MECHANISM === 'oauthbearer';
  if (bare && !config.KAFKA_TLS && PLATFORM_MODE === 'production') {
    throw new ConfigError(
      `KAFKA_SASL_MECHANISM=${String(config.KAFKA_SASL_MECHANISM)} sends a secret as it is and needs KAFKA_TLS=true.`,
    );
  }
  return { ...tlsOf(config), ...saslOf(config) };
}

function tlsOf(config: KafkaSecurityConfig): Pick<Security, 'ssl'> {
  const { KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE, KAFKA_TLS_KEY_FILE } = config;
  if (!config.KAFKA_TLS) {
    if (KAFKA_TLS_CA_FILE ?? KAFKA_TLS_CERT_FILE ?? KAFKA_TLS_KEY_FILE)
      throw new ConfigError('The files of KAFKA_TLS_* are given, and KAFKA_TLS is not true.');
    return {};
  }
  const files = { ca: KAFKA_TLS_CA_FILE, cert: KAFKA_TLS_CERT_FILE, key: KAFKA_TLS_KEY_FILE };
  return { ssl: readTlsFiles('KAFKA_TLS', files) };
}

function saslOf(config: KafkaSecurityConfig): Pick<Security, 'sasl'> {
  const { KAFKA_SASL_MECHANISM: mechanism } = config;
  if (mechanism === undefined) return {};
  if (mechanism === 'oauthbearer') return { sasl: { mechanism, oauthBearerProvider: tokenOf(config) } };
  const { KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = config;
  if (username === undefined || password === undefined) {
    throw new ConfigError(
      `KAFKA_SASL_MECHANISM=${mechanism} needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD.`,
    );
  }
  switch (mechanism) {
    case 'plain':
      return { sasl: { mechanism, username, password } };
    case 'scram-sha-256':
      return { sasl: { mechanism, username, password } };
    case 'scram-sha-512':
      return { sasl: { mechanism, username, password } };
  }
}

function tokenOf(config: KafkaSecurityConfig): ReturnType<typeof tokenOfFile> {
  const extensions = extensionsOf(config.KAFKA_OAUTH_EXTENSIONS);
  if (config.KAFKA_OAUTH_TOKEN_FILE) return tokenOfFile(config.KAFKA_OAUTH_TOKEN_FILE, extensions);
  const { KAFKA_OAUTH_TOKEN_URL: url, KAFKA_OAUTH_CLIENT_ID: clientId } = config;
  const { KAFKA_OAUTH_CLIENT_SECRET: clientSecret, KAFKA_OAUTH_SCOPE: scope } = config;
  if (url === undefined || clientId === undefined || clientSecret === undefined) {
    throw new ConfigError(
      'KAFKA_SASL_MECHANISM=oauthbearer needs KAFKA_OAUTH_TOKEN_FILE, or KAFKA_OAUTH_TOKEN_URL, KAFKA_OAUTH_CLIENT_ID and ' +
        'KAFKA_OAUTH_CLIENT_SECRET.',
    );
  }
  return fetchedToken({ url, clientId, clientSecret, ...(scope ? { scope } : {}) }, extensions);
}

/** `logicalCluster=lkc-1,identityPoolId=pool-2`: what Confluent Cloud wants beside a token. */
function extensionsOf(list: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    list.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new ConfigError('KAFKA_OAUTH_EXTENSIONS must hold name=value pairs.');
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** Why the brokers will never let this process in as it is configured: one sentence; undefined for all else. */
export function refusalOfBroker(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = causeOf(at), depth += 1) {
    if (at.name === 'KafkaJSSASLAuthenticationError') {
      return `Kafka refuses the credentials of KAFKA_SASL_* (${readConfig(kafkaSecurityConfig).KAFKA_SASL_MECHANISM ?? 'none'}): ${at.message}`;
    }
    if (/certificate|self.signed|unable to verify/i.test(at.message)) {
      return `The certificate of Kafka is not trusted; see KAFKA_TLS_CA_FILE: ${at.message}`;
    }
  }
  return undefined;
}

function causeOf(error: Error): unknown {
  return error.cause ?? (error as { originalError?: unknown }).originalError;
}
