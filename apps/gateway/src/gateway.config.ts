import { readFileSync } from 'node:fs';
import { publicUrlsConfig, readConfig, serviceConfig } from '@customer-platform/config';
import { z } from 'zod';
import type { ModuleName } from './routes.js';

const schema = serviceConfig.pick({ HOST: true, PORT: true, INTERNAL_PORT: true, LOG_LEVEL: true }).extend({
  ...publicUrlsConfig.shape,
  TLS_CERT_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  /** The release that the documents name. */
  RELEASE: z.string().default('2026.11'),
  /** `true` where a load balancer in front sets X-Forwarded-*; by default they are replaced. */
  TRUST_FORWARDED: z.enum(['true', 'false'], 'must be true or false').default('false'),
});

export interface GatewayConfig {
  release: string;
  logLevel: string;
  tlsFiles: { cert: string; key: string } | undefined;
  host: string;
  port: number;
  internalPort: number;
  upstreams: Record<ModuleName, string>;
  tls: { cert: Buffer; key: Buffer } | undefined;
  trustForwarded: boolean;
}

/** @throws ConfigError naming every bad variable; Error where a certificate is named that cannot be read. */
export function readGatewayConfig(env?: NodeJS.ProcessEnv): GatewayConfig {
  const values = env === undefined ? readConfig(schema) : readConfig(schema, env);
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
    upstreams: {
      core: values.CORE_URL,
      crm: values.CRM_URL,
      identity: values.IDENTITY_URL,
      messaging: values.MESSAGING_URL,
      loyalty: values.LOYALTY_URL,
    },
    tlsFiles,
    tls: tlsFiles && readTls(tlsFiles),
    trustForwarded: values.TRUST_FORWARDED === 'true',
  };
}

/** Read anew at SIGHUP, so that a renewed certificate needs no restart. */
export function readTls(files: { cert: string; key: string }): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(files.cert), key: readFileSync(files.key) };
}
