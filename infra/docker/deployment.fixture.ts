import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import {
  addressPeppersConfig,
  databaseConfig,
  encryptionConfig,
  gatewayAddressesConfig,
  kafkaConfig,
  kafkaSecurityConfig,
  ledgerConfig,
  peersConfig,
  publicUrlsConfig,
  secretsConfig,
  serviceConfig,
} from '@customer-platform/config';

export const root = join(import.meta.dirname, '../..');
export type Environment = Record<string, string>;

/** What each process reads, put together from the pieces of libs/config. */
export const schemas = {
  gateway: serviceConfig.extend(publicUrlsConfig.shape),
  module: serviceConfig
    .extend(gatewayAddressesConfig.shape)
    .extend(databaseConfig.omit({ DATABASE_OWNER_URL: true }).shape)
    .extend(kafkaConfig.shape)
    .extend(kafkaSecurityConfig.shape)
    .extend(peersConfig.shape)
    .extend(publicUrlsConfig.shape)
    .extend(secretsConfig.shape)
    .extend(encryptionConfig.shape),
  migration: databaseConfig.pick({ DATABASE_OWNER_URL: true }).required(),
};
/** What one module reads beyond the others. */
export const own = { messaging: addressPeppersConfig, loyalty: ledgerConfig };

export interface ComposeService {
  image: string;
  environment?: Record<string, string | number | null>;
  command?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** `NAME=value` lines, the value in single quotes or bare. */
export function readEnvironment(text: string): Environment {
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes('=') && !line.startsWith('#'))
      .map((line) => {
        const at = line.indexOf('=');
        return [line.slice(0, at), line.slice(at + 1).replace(/^'(.*)'$/, '$1')];
      }),
  );
}

/** Fills in `${NAME}`, `${NAME:-default}` and `${NAME:?message}` as Docker Compose does. */
export function interpolate(text: string, environment: Environment): string {
  return text.replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind?: string, rest?: string) => {
      const value = environment[name];
      if (value) return value;
      if (kind === '-') return rest ?? '';
      throw new Error(`docker-compose.yml needs ${name}, which nothing sets`);
    },
  );
}

/** The services of docker-compose.yml, anchors and merges resolved, variables filled in. */
export function composeServices(environment: Environment): Record<string, ComposeService> {
  const { services } = parse(readText('docker-compose.yml'), { merge: true }) as {
    services: Record<string, ComposeService>;
  };
  for (const service of Object.values(services))
    for (const [name, value] of Object.entries(service.environment ?? {}))
      if (typeof value === 'string') (service.environment ??= {})[name] = interpolate(value, environment);
  return services;
}

/** A service's variables as a process sees them. */
export function environmentOf({ environment = {} }: ComposeService): Environment {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  );
}
