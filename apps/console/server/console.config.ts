import {
  drainMs,
  ModulesTls,
  modulesTlsConfig,
  readConfig,
  RELEASE,
  serviceConfig,
} from '@customer-platform/config';
import { z } from 'zod';

const service = {
  HOST: true,
  PORT: true,
  INTERNAL_PORT: true,
  LOG_LEVEL: true,
  PLATFORM_MODE: true,
  DRAIN_SECONDS: true,
} as const;

const schema = serviceConfig.pick(service).extend({
  /** The release that the pages name. */
  RELEASE: z.string().default(RELEASE),
  ...modulesTlsConfig.shape,
});

/** What the Console's server is told. */
export interface ConsoleConfig {
  readonly host: string;
  readonly port: number;
  readonly internalPort: number;
  readonly logLevel: string;
  /** How long it still answers once it is told to end, in milliseconds. */
  readonly drainMs: number;
  readonly release: string;
  /** TLS of the listener; undefined for plain HTTP. */
  readonly tls: ModulesTls | undefined;
}

/** @throws ConfigError naming every bad variable */
export function readConsoleConfig(
  env?: NodeJS.ProcessEnv,
  unusable: (error: unknown) => void = () => undefined,
): ConsoleConfig {
  const values = env === undefined ? readConfig(schema) : readConfig(schema, env);
  return {
    host: values.HOST,
    port: values.PORT,
    internalPort: values.INTERNAL_PORT,
    logLevel: values.LOG_LEVEL,
    drainMs: drainMs(values),
    release: values.RELEASE,
    tls: ModulesTls.of(values, unusable),
  };
}
