import type * as Published from '@customer-platform/client';
import type { Platform } from './platform.ts';

/**
 * The public API by the published client. Loaded when it is asked for: a platform that runs has been built, and a command
 * that starts one builds it first.
 *
 * @throws Error with the remedy where the client has not been built.
 */
export async function publicApi(
  baseUrl: string,
  credentials: string | undefined,
  settings: Omit<Published.ClientSettings, 'baseUrl' | 'credentials'> = {},
): Promise<Published.Client> {
  const { createClient } = await built();
  return createClient({ baseUrl, ...(credentials === undefined ? {} : { credentials }), ...settings });
}

/** With the administrator key. */
export const adminOf = (platform: Platform): Promise<Published.Client> =>
  publicApi(platform.base_url, platform.admin_key);

async function built(): Promise<typeof Published> {
  try {
    return await import('@customer-platform/client');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new Error('The client of the API is not built: run "npm run build" first.', { cause });
  }
}
