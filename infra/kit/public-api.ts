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

/**
 * What a call answers, or the refusal where it has one of these statuses.
 *
 * @throws every other failure
 */
export async function orRefusal<T>(
  call: Promise<T>,
  ...statuses: readonly number[]
): Promise<T | Published.ProblemError> {
  const { ProblemError } = await built();
  return call.catch((error: unknown) => {
    if (error instanceof ProblemError && statuses.includes(error.status)) return error;
    throw error;
  });
}

/** The id of what a call makes, or of what has its unique value already. */
export async function idOfMade(making: Promise<Published.Answer<{ id: string }>>): Promise<string> {
  const made = await orRefusal(making, 409);
  if ('data' in made) return made.data.id;
  const { conflicting_id: existing } = made.body as { conflicting_id?: string };
  if (existing === undefined) throw made;
  return existing;
}

async function built(): Promise<typeof Published> {
  try {
    return await import('@customer-platform/client');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new Error('The client of the API is not built: run "npm run build" first.', { cause });
  }
}
