import {
  applyDecorators,
  Injectable,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { IncomingMessage } from 'node:http';
import { Endpoint, type EndpointOptions } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { ModuleName } from './internal-client.js';
import { ServiceTokens } from './service-tokens.js';

const CALLERS = 'customer-platform:callers';

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

/** Lets a call pass whose service token (identity.md §8) is of a module that the route lists. */
@Injectable()
export class ServiceTokenGuard implements CanActivate {
  constructor(
    private readonly tokens: ServiceTokens,
    private readonly reflector: Reflector,
  ) {}

  /** @throws Problem `missing_credentials`, `invalid_token`, `token_expired` (401), `permission_denied` (403) */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<IncomingMessage>();
    const { method = '', url: path = '' } = request;
    const caller = await this.tokens.verify(request.headers.authorization, { method, path });
    const callers = this.reflector.get<readonly string[]>(CALLERS, context.getHandler());
    if (!callers.includes(caller)) {
      throw new Problem('permission_denied', { detail: `The module ${caller} may not call this route.` });
    }
    return true;
  }
}

/** A route between modules: on the internal listener only, for the listed callers, by service token. */
export function InternalEndpoint(options: InternalEndpointOptions): MethodDecorator {
  const { callers, summary, ...endpoint } = options;
  return applyDecorators(
    Endpoint({
      ...endpoint,
      authorization: 'service',
      summary: summary ?? `Between modules: ${options.method} ${options.path ?? ''}`.trim(),
    }),
    SetMetadata(CALLERS, callers),
    UseGuards(ServiceTokenGuard),
  );
}
