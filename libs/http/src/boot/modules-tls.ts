import { ModulesTls, modulesTlsConfig, readConfig } from '@customer-platform/config';
import { log } from '../observe/log.js';

/**
 * How modules speak to each other by TLS, as the environment says; undefined where they do not.
 * @throws ConfigError
 */
export function modulesTls(env?: Record<string, string | undefined>): ModulesTls | undefined {
  return ModulesTls.of(readConfig(modulesTlsConfig, env), (error) =>
    log.error({ err: error }, 'The renewed files of MODULES_TLS_* cannot be used; the former go on'),
  );
}
