import { ConfigError, readConfig, readTlsFiles, redisConfig } from '@customer-platform/config';
import type { Installation } from '@customer-platform/database';
import type { RedisLimitStore } from './redis-limit-store.js';

/**
 * The store of `REDIS_URL`; undefined where there is none. The client, of 480 modules, is loaded where there is one.
 * @throws ConfigError
 */
export async function configuredRedis(
  installation: Pick<Installation, 'claim'>,
): Promise<RedisLimitStore | undefined> {
  const { REDIS_URL: url, ...files } = readConfig(redisConfig);
  const { REDIS_TLS_CA_FILE: ca, REDIS_TLS_CERT_FILE: cert, REDIS_TLS_KEY_FILE: key } = files;
  const tls = readTlsFiles('REDIS_TLS', { ca, cert, key });
  if (Object.keys(tls).length > 0 && !url?.startsWith('rediss:'))
    throw new ConfigError('The files of REDIS_TLS_* are given, and REDIS_URL is no rediss:// address.');
  if (url === undefined) return undefined;
  const { RedisLimitStore } = await import('./redis-limit-store.js');
  return new RedisLimitStore(url, installation, tls);
}
