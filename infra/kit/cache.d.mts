/**
 * The folder of what is fetched or built once for this machine: for all checkouts, outside their packages, which every
 * installation deletes. `CUSTOMER_PLATFORM_CACHE` names another.
 */
export function cacheFolder(env?: NodeJS.ProcessEnv, platform?: NodeJS.Platform, home?: string): string;
