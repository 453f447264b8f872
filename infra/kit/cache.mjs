/** Where fetched programs are kept. No dependency may be imported here. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * The folder of what is fetched or built once for this machine: for all checkouts, outside their packages, which every
 * installation deletes. What lies in it is named by its version or the digest of its lock file, and put there whole, so
 * that several releases and runs share it. `CUSTOMER_PLATFORM_CACHE` names another.
 */
export function cacheFolder(env = process.env, platform = process.platform, home = homedir()) {
  const own = env.CUSTOMER_PLATFORM_CACHE;
  if (own) return resolve(own);
  const caches =
    env.XDG_CACHE_HOME || (platform === 'darwin' ? join(home, 'Library/Caches') : join(home, '.cache'));
  return join(caches, 'customer-platform');
}
