import { isDatabaseUnavailable } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import Provider, { errors } from 'oidc-provider';

const RETRY_AFTER_S = '1';

/**
 * A database that is away is told in the protocol's form, as something that passes: the library would call it a fault of
 * its own. The library tells nobody of errors of the protocol, so the log is told here.
 */
export async function available<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    const isTold = cause instanceof errors.OIDCProviderError;
    if (isTold || !isDatabaseUnavailable(cause)) throw cause;
    const { ctx } = Provider;
    log.warn({ err: cause, route: ctx?.oidc?.route }, 'The OAuth provider waits for the database');
    ctx?.set('Retry-After', RETRY_AFTER_S);
    const error = new errors.TemporarilyUnavailable('try again in a moment', { cause });
    error.status = 503;
    error.statusCode = 503;
    throw error;
  }
}
