import { Endpoint, type EndpointOptions } from '@customer-platform/http';
import type { ModuleName } from './internal-client.js';

/** Options of {@link InternalEndpoint}; what is not said here is as {@link Endpoint} has it. */
type InternalEndpointOptions = Pick<
  EndpointOptions,
  'method' | 'path' | 'response' | 'request' | 'bodyLimit'
> & {
  /** The modules that may call it, and no others. */
  readonly callers: readonly ModuleName[];
  /** Default: what the path says. */
  readonly summary?: string;
  /** Default 200. */
  readonly success?: number;
};

/** A route between modules: on the internal listener only, for the listed callers, by service token. */
export function InternalEndpoint({ summary, ...endpoint }: InternalEndpointOptions): MethodDecorator {
  return Endpoint({
    ...endpoint,
    authorization: 'service',
    summary: summary ?? `Between modules: ${endpoint.method} ${endpoint.path ?? ''}`.trim(),
  });
}
