import { readFileSync } from 'node:fs';
import {
  type AddressList,
  addressList,
  demandPublicUrl,
  drainMs,
  httpUrl,
  ModulesTls,
  modulesTlsConfig,
  publicUrlsConfig,
  readConfig,
  RELEASE,
  serviceConfig,
} from '@customer-platform/config';
import { z } from 'zod';
import type { ModuleName } from './routes.js';

const service = {
  HOST: true,
  PORT: true,
  INTERNAL_PORT: true,
  LOG_LEVEL: true,
  PUBLIC_URL: true,
  PLATFORM_MODE: true,
  DRAIN_SECONDS: true,
} as const;

const schema = serviceConfig.pick(service).extend({
  ...publicUrlsConfig.shape,
  ...modulesTlsConfig.shape,
  /** Who serves the Console's files; without it there is no Console here. */
  CONSOLE_UPSTREAM_URL: httpUrl().optional(),
  TLS_CERT_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  /** The release that the documents name. */
  RELEASE: z.string().default(RELEASE),
  /** The load balancers in front: `X-Forwarded-For` and `-Proto` are believed from these addresses alone. */
  TRUSTED_PROXIES: addressList().prefault(''),
  /** Believed everybody. Refused rather than ignored, for whoever sets it counts on callers' addresses. */
  TRUST_FORWARDED: z
    .literal('false', 'is replaced by TRUSTED_PROXIES, which takes the addresses of the load balancers')
    .optional(),
});

export interface GatewayConfig {
  release: string;
  logLevel: string;
  tlsFiles: { cert: string; key: string } | undefined;
  host: string;
  port: number;
  internalPort: number;
  /** How long it still answers once it is told to end, in milliseconds. */
  drainMs: number;
  upstreams: Record<ModuleName, string>;
  consoleUpstream: string | undefined;
  tls: { cert: Buffer; key: Buffer } | undefined;
  /** Between the gateway and the modules, and of its health and metrics. */
  modulesTls?: ModulesTls | undefined;
  trustedProxies: AddressList;
  /** Host and port of `PUBLIC_URL`: what modules are told, whatever a caller sends as `Host`. */
  publicHost: string;
}

/** @throws ConfigError naming every bad variable; Error where a certificate is named that cannot be read. */
export function readGatewayConfig(
  env?: NodeJS.ProcessEnv,
  unusable: (error: unknown) => void = () => undefined,
): GatewayConfig {
  const values = env === undefined ? readConfig(schema) : readConfig(schema, env);
  demandPublicUrl(values);
  const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key } = values;
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error('TLS_CERT_FILE and TLS_KEY_FILE go together: give both, or neither for plain HTTP.');
  }
  const tlsFiles = cert === undefined || key === undefined ? undefined : { cert, key };
  return {
    release: values.RELEASE,
    logLevel: values.LOG_LEVEL,
    host: values.HOST,
    port: values.PORT,
    internalPort: values.INTERNAL_PORT,
    drainMs: drainMs(values),
    upstreams: {
      core: values.CORE_URL,
      crm: values.CRM_URL,
      identity: values.IDENTITY_URL,
      messaging: values.MESSAGING_URL,
      loyalty: values.LOYALTY_URL,
    },
    consoleUpstream: values.CONSOLE_UPSTREAM_URL,
    tlsFiles,
    tls: tlsFiles && readTls(tlsFiles),
    modulesTls: ModulesTls.of(values, unusable),
    trustedProxies: values.TRUSTED_PROXIES,
    publicHost: new URL(values.PUBLIC_URL).host,
  };
}

/** Read anew at SIGHUP, so that a renewed certificate needs no restart. */
export function readTls(files: { cert: string; key: string }): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(files.cert), key: readFileSync(files.key) };
}
