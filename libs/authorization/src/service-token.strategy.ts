import type { IncomingMessage } from 'node:http';
import { ApplicationPassport, CredentialStrategy, type CallingModule } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { ServiceTokens } from './service-tokens.js';

/** Tokens between modules (identity.md §8), of those that the route lists. */
export class ServiceTokenStrategy extends CredentialStrategy('service_token') {
  constructor(
    passport: ApplicationPassport,
    private readonly tokens: ServiceTokens,
  ) {
    super(passport);
  }

  /** @throws Problem `missing_credentials`, `invalid_token`, `token_expired` (401), `permission_denied` (403) */
  override async validate(
    { method = '', url: path = '', headers }: IncomingMessage,
    { callers }: { callers: readonly string[] },
  ): Promise<CallingModule> {
    const module = await this.tokens.verify(headers.authorization, { method, path });
    if (callers.includes(module)) return { module };
    throw new Problem('permission_denied', { detail: `The module ${module} may not call this route.` });
  }
}
