import { readFileSync } from 'node:fs';
import { publicUrlsConfig, readConfig, serviceConfig } from '@customer-platform/config';
import { z } from 'zod';
import { MODULES, type ModuleName } from './routes.js';

const schema = serviceConfig.pick({ HOST: true, PORT: true, INTERNAL_PORT: true }).extend({
  ...publicUrlsConfig.shape,
  TLS_CERT_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  /** `true` where a load balancer in front sets X-Forwarded-*; by default they are replaced. */
  TRUST_FORWARDED: z.enum(['true', 'false'], 'must be true or false').default('false'),
});

export interface GatewayConfig {
  host: string;
  port: number;
  internalPort: number;
  upstreams: Record<ModuleName, string>;
  tls: { cert: Buffer; key: Buffer } | undefined;
  trustForwarded: boolean;
}

/** @throws ConfigError naming every bad variable; Error where a certificate is named that cannot be read. */
export function readGatewayConfig(env: NodeJS.ProcessEnv = process.env): GatewayConfig {
  const values = readConfig(schema, env);
  if ((values.TLS_CERT_FILE === undefined) !== (values.TLS_KEY_FILE === undefined)) {
    throw new Error('TLS_CERT_FILE and TLS_KEY_FILE go together: give both, or neither for plain HTTP.');
  }
  return {
    host: values.HOST,
    port: values.PORT,
    internalPort: values.INTERNAL_PORT,
    upstreams: Object.fromEntries(
      MODULES.map((name) => [name, values[`${name.toUpperCase()}_URL` as 'CORE_URL']]),
    ) as Record<ModuleName, string>,
    tls: readTls(values.TLS_CERT_FILE, values.TLS_KEY_FILE),
    trustForwarded: values.TRUST_FORWARDED === 'true',
  };
}

/** Read anew at SIGHUP, so that a renewed certificate needs no restart. */
export function readTls(cert: string | undefined, key: string | undefined): GatewayConfig['tls'] {
  return cert === undefined || key === undefined
    ? undefined
    : { cert: readFileSync(cert), key: readFileSync(key) };
}
