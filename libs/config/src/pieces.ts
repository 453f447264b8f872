import { z } from 'zod';
import { addressList } from './address-list.js';
import { namedKeys } from './keyring.js';
import { SERVICE_KEY_ID } from './service-key.js';
import { base64Key, commaList, flag, httpUrl, jsonText, portNumber, wholeNumber } from './values.js';

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** What every process reads: where it listens and which part of the work it does. */
export const serviceConfig = z.object({
  /** Public listener; 0 takes a free port. */
  PORT: portNumber().default(0),
  /** Listener of `/internal/*`, never proxied; 0 takes a free port. */
  INTERNAL_PORT: portNumber().default(0),
  HOST: z.string().default('127.0.0.1'),
  /** `api` serves requests, `worker` consumes, `all` does both. */
  PROCESS_ROLE: oneOf(['api', 'worker', 'all']).default('all'),
  LOG_LEVEL: oneOf(LOG_LEVELS).default('info'),
  PLATFORM_MODE: oneOf(['local', 'production']).default('production'),
  /** How long a process that is told to end still answers, not ready any more, 3 at most; 3 in production, 0 locally. */
  DRAIN_SECONDS: wholeNumber(0, 3).optional(),
  /** The gateway's base address, as callers see it. */
  PUBLIC_URL: httpUrl().default('http://127.0.0.1:8080'),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl().optional(),
});

/** What {@link serviceConfig} reads. */
type ServiceConfig = z.infer<typeof serviceConfig>;

/**
 * How long a process that is told to end still answers, in milliseconds: until a balancer has learned that it is not
 * ready, and those who keep connections to it have let go of what they do not use, within 3 s.
 */
export function drainMs(config: Pick<ServiceConfig, 'DRAIN_SECONDS' | 'PLATFORM_MODE'>): number {
  return 1_000 * (config.DRAIN_SECONDS ?? (config.PLATFORM_MODE === 'production' ? 3 : 0));
}

/** From where the gateway calls the modules: what it says of a caller's address is believed from there alone. */
export const gatewayAddressesConfig = z.object({
  GATEWAY_ADDRESSES: addressList().prefault('127.0.0.0/8,::1'),
});

const postgresUrl = () =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && /^postgres(ql)?:\/\//.test(text),
      'must be a postgres:// address',
    );

/** A module's database; the owner's address is for migrations only. */
export const databaseConfig = z.object({
  DATABASE_URL: postgresUrl(),
  DATABASE_OWNER_URL: postgresUrl().optional(),
  DATABASE_POOL_SIZE: wholeNumber(1, 500).default(10),
  /** How long a call waits for a connection, a free one or a new one, before it is answered 503. */
  DATABASE_WAIT_MS: wholeNumber(100, 60_000).default(3_000),
});

/** Where the files of imports lie until they are carried out. */
export const importFilesConfig = z.object({
  /** A folder, or a bucket of a storage that speaks S3. */
  IMPORT_STORAGE: oneOf(['folder', 's3']).default('folder'),
  /** A folder that all of core's processes see, on whatever machines; unless it is given, below the system's temporary one. */
  IMPORT_DIRECTORY: z.string().optional(),
});

/** The bucket of `IMPORT_STORAGE=s3`. */
export const importBucketConfig = z
  .object({
    IMPORT_S3_BUCKET: z.string(),
    IMPORT_S3_REGION: z.string(),
    /** Of a storage that is not Amazon's. */
    IMPORT_S3_ENDPOINT: httpUrl().optional(),
    /** PEM files: whom to trust of it in place of the system's authorities, and a certificate of ours. */
    IMPORT_S3_TLS_CA_FILE: z.string().optional(),
    IMPORT_S3_TLS_CERT_FILE: z.string().optional(),
    IMPORT_S3_TLS_KEY_FILE: z.string().optional(),
    /** The bucket in the path and not in the host's name, as most storages that are not Amazon's want it. */
    IMPORT_S3_PATH_STYLE: flag().default(false),
    /**
     * What names in the bucket begin with: `production/imports/`. Of one installation alone, for what its database does not
     * know is removed there.
     */
    IMPORT_S3_PREFIX: z
      .string()
      .regex(/^(?:[A-Za-z0-9._-]{1,64}\/){1,4}$/, 'must be names that each end with a slash'),
    /** Both or none: without them those of the environment, a role of the pod among them. */
    IMPORT_S3_ACCESS_KEY_ID: z.string().optional(),
    IMPORT_S3_SECRET_ACCESS_KEY: z.string().optional(),
  })
  .refine(
    (read) => read.IMPORT_S3_ACCESS_KEY_ID === undefined || read.IMPORT_S3_SECRET_ACCESS_KEY !== undefined,
    {
      path: ['IMPORT_S3_SECRET_ACCESS_KEY'],
    },
  )
  .refine(
    (read) => read.IMPORT_S3_SECRET_ACCESS_KEY === undefined || read.IMPORT_S3_ACCESS_KEY_ID !== undefined,
    {
      path: ['IMPORT_S3_ACCESS_KEY_ID'],
    },
  );
/** What {@link importBucketConfig} reads. */
export type ImportBucketConfig = z.infer<typeof importBucketConfig>;

/** Where the instances of a module share what they count; unless it is given, in the module's database. */
export const redisConfig = z.object({
  /** Redis or Valkey, one server or what stands before several. */
  REDIS_URL: z
    .string()
    .refine(
      (text) => URL.canParse(text) && /^rediss?:\/\//.test(text),
      'must be a redis:// or rediss:// address',
    )
    .optional(),
  /** PEM files of a rediss:// address: whom to trust in place of the system's authorities, and a certificate of ours. */
  REDIS_TLS_CA_FILE: z.string().optional(),
  REDIS_TLS_CERT_FILE: z.string().optional(),
  REDIS_TLS_KEY_FILE: z.string().optional(),
});

/** Where customers' addresses may lead. */
export const outboundConfig = z.object({
  /** Ports that they may name beside 80 and 443: `8443,9443`. */
  OUTBOUND_PORTS: commaList()
    .refine(
      (ports) => ports.every((port) => /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535),
      'must be ports such as 8443,9443',
    )
    .transform((ports) => ports.map(Number))
    .optional(),
});

const nameServer = /^(?:(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?|[0-9a-f:]+|\[[0-9a-f:]+\](?::\d{1,5})?)$/i;

function nameServers() {
  return commaList()
    .refine(
      (servers) => servers.every((each) => nameServer.test(each)),
      'must be addresses such as 10.0.0.2:53',
    )
    .optional();
}

/** How domains are proven to be an organization’s. */
export const domainProofConfig = z.object({
  /** Whom to ask whether a domain is proven: addresses of name servers, with a port or without; else the system's. */
  SSO_DNS_SERVERS: nameServers(),
});

const hostName = (): z.ZodOptional<z.ZodString> =>
  z
    .string()
    .regex(
      /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
      'must be a host name',
    )
    .optional();

/** Where mail returns that cannot be delivered. */
export const returnedMailConfig = z.object({
  /** The host name of return paths, whose MX leads to RETURN_SMTP_PORT; without it mail has none of the platform's. */
  RETURN_HOST: hostName(),
  /** On which returned mail is taken; without it nobody listens here. 0 takes a free port. */
  RETURN_SMTP_PORT: portNumber().optional(),
});

/** How the domains are proven that mail is sent from. */
export const senderDomainsConfig = z.object({
  /** Whom to ask for their records: addresses of name servers, with a port or without; else the system's. */
  SENDER_DNS_SERVERS: nameServers(),
  /** False while organizations that send already prove their domains: outside of local mode too mail leaves from others. */
  SENDER_DOMAINS_REQUIRED: flag().default(true),
  /** The name whose SPF record lists the servers that mail leaves by; without it each organization has its own. */
  SENDER_SPF_INCLUDE: hostName(),
});

/** The brokers, and what isolates one use of them from another. */
export const kafkaConfig = z.object({
  KAFKA_BROKERS: commaList(),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{0,64}$/, 'may hold letters, digits, dots, dashes and underscores only')
    .default(''),
  KAFKA_PARTITIONS: wholeNumber(1, 1_000).default(6),
  /** In production, topics with fewer than three replicas, or `min.insync.replicas` under two, refuse the start. */
  KAFKA_ALLOW_WEAK_REPLICATION: flag().default(false),
  /** Gaps between a restored database and what Kafka still holds that are passed over: `group/topic/partition@offset`. */
  KAFKA_ACCEPT_GAPS: commaList().default([]),
});
const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const;

/** How the brokers are spoken to: without any of these, in plain text and without a name. */
export const kafkaSecurityConfig = z.object({
  KAFKA_TLS: flag().default(false),
  /** PEM files: whom to trust in place of the system's authorities, and the client's own certificate and key. */
  KAFKA_TLS_CA_FILE: z.string().optional(),
  KAFKA_TLS_CERT_FILE: z.string().optional(),
  KAFKA_TLS_KEY_FILE: z.string().optional(),
  KAFKA_SASL_MECHANISM: oneOf(SASL_MECHANISMS).optional(),
  KAFKA_SASL_USERNAME: z.string().optional(),
  KAFKA_SASL_PASSWORD: z.string().optional(),
  /** OAUTHBEARER: a file that is renewed, or an endpoint that gives tokens for client credentials. */
  KAFKA_OAUTH_TOKEN_FILE: z.string().optional(),
  KAFKA_OAUTH_TOKEN_URL: httpUrl().optional(),
  KAFKA_OAUTH_CLIENT_ID: z.string().optional(),
  KAFKA_OAUTH_CLIENT_SECRET: z.string().optional(),
  KAFKA_OAUTH_SCOPE: z.string().optional(),
  KAFKA_OAUTH_EXTENSIONS: commaList().default([]),
  /** In production, brokers that do not ask who writes refuse the start. */
  KAFKA_ALLOW_UNAUTHENTICATED: flag().default(false),
});

/** What {@link kafkaSecurityConfig} reads. */
export type KafkaSecurityConfig = z.infer<typeof kafkaSecurityConfig>;

/** The internal listeners of all modules; a module that needs fewer picks them. */
export const peersConfig = z.object({
  IDENTITY_INTERNAL_URL: httpUrl(),
  CORE_INTERNAL_URL: httpUrl(),
  CRM_INTERNAL_URL: httpUrl(),
  MESSAGING_INTERNAL_URL: httpUrl(),
  LOYALTY_INTERNAL_URL: httpUrl(),
});

/** The public listeners of all modules; a module that needs fewer picks them. */
export const publicUrlsConfig = z.object({
  IDENTITY_URL: httpUrl(),
  CORE_URL: httpUrl(),
  CRM_URL: httpUrl(),
  MESSAGING_URL: httpUrl(),
  LOYALTY_URL: httpUrl(),
});

const publicJwk = z.looseObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  // The module's name, or the name and a number: of several keys of a module each has its own.
  kid: z.string().regex(SERVICE_KEY_ID),
});

const jwks = z
  .looseObject({ keys: z.array(publicJwk) })
  .refine(({ keys }) => new Set(keys.map(({ kid }) => kid)).size === keys.length);

/** What a module signs with, whom it believes, and what authenticates its cursors. */
export const secretsConfig = z.object({
  /** Ed25519 private JWK, `kid` = the module's name, or that and a number (`core-2`): what this process signs with. */
  SERVICE_PRIVATE_KEY: jsonText(publicJwk.extend({ d: z.string() }), 'an Ed25519 private JWK with a kid'),
  /** JWKS with the public keys of every module; several of one are all believed. */
  SERVICE_PUBLIC_KEYS: jsonText(jwks, 'a JWKS of Ed25519 public keys, each with a kid of its own'),
  CURSOR_SECRET: z.string().min(32, 'must have at least 32 characters'),
});
/** What {@link secretsConfig} reads. */
export type SecretsConfig = z.infer<typeof secretsConfig>;

/** By what records in Kafka carry proof of the module that wrote them. */
export const recordProofsConfig = z.object({
  ...secretsConfig.pick({ SERVICE_PRIVATE_KEY: true, SERVICE_PUBLIC_KEYS: true }).shape,
  ...serviceConfig.pick({ PLATFORM_MODE: true }).shape,
  /** Whether a record without a proof is set aside: in local mode unless it says no, in production once it says so. */
  EVENTS_REQUIRE_PROOF: flag().optional(),
});

/** The keys of secrets at rest; see `Keyring`. */
export const encryptionConfig = z.object({
  ENCRYPTION_KEY: base64Key(32),
  ENCRYPTION_KEYS: namedKeys().optional(),
});

/**
 * Below which address the Console is (`/console/`): links in mails open it, and people are sent back there from signing
 * in. The gateway's address unless given.
 */
export const consoleConfig = z.object({
  CONSOLE_URL: httpUrl().optional(),
  ...serviceConfig.pick({ PUBLIC_URL: true }).shape,
});

/** Messaging's peppers of address keys; the first is current, the others still match. */
export const addressPeppersConfig = z.object({ ADDRESS_PEPPERS: commaList() });

/** Loyalty's key of keyed hashes. */
export const ledgerConfig = z.object({ LEDGER_KEY: z.string().min(32, 'must have at least 32 characters') });

/** The level to log with before the configuration is read, which refuses a bad one: `LOG_LEVEL`, else `info`. */
export function initialLogLevel(): (typeof LOG_LEVELS)[number] {
  const given = process.env['LOG_LEVEL'];
  return LOG_LEVELS.find((level) => level === given) ?? 'info';
}

/** Each look at the event loop's lag wakes the process, idle or not. */
const EVENT_LOOP_LOOK_MS = 50;

/**
 * How often the event loop's lag is looked at, in milliseconds. `EVENT_LOOP_LOOK_MS` sets it, for tests of the longest
 * hold.
 */
export function eventLoopLookMs(): number {
  const given = Number(process.env['EVENT_LOOP_LOOK_MS']);
  return given >= 1 ? given : EVENT_LOOP_LOOK_MS;
}
