import { Controller } from '@nestjs/common';
import {
  InternalEndpoint,
  RegistryUnavailable,
  UnknownCredential,
  type ChangesPage,
  type ConfirmAnswer,
  type ModuleName,
  type ResolvedCredential,
  type SigningKeySet,
} from '@customer-platform/authorization';
import { Body, Query } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ChangesQuery, ConfirmDto, ResolveDto, UsageDto } from './authorization.dto.js';
import { DatabaseAuthorizationSource } from './database-authorization.source.js';

const EVERY_MODULE: readonly ModuleName[] = ['core', 'crm', 'loyalty', 'messaging'];
/** Modules give up after 500 ms (identity.md §8); an answer that would come later need not be computed. */
const TIMEOUT_MS = 500;

/** The registry between modules (identity.md §8). */
@Controller('internal/authz')
export class AuthorizationController {
  constructor(private readonly registry: DatabaseAuthorizationSource) {}

  /** 404 without or with `reason: expired` for a credential that grants nothing. */
  @InternalEndpoint({ method: 'POST', path: 'resolve', callers: EVERY_MODULE })
  resolve(@Body() body: ResolveDto): Promise<ResolvedCredential> {
    return answered(this.ask(body));
  }

  @InternalEndpoint({ method: 'GET', path: 'keys', callers: EVERY_MODULE })
  keys(): Promise<SigningKeySet> {
    return answered(this.registry.signingKeys(TIMEOUT_MS));
  }

  @InternalEndpoint({ method: 'GET', path: 'changes', callers: EVERY_MODULE })
  changes(@Query() { cursor }: ChangesQuery): Promise<ChangesPage> {
    return answered(this.registry.changes(cursor, TIMEOUT_MS));
  }

  @InternalEndpoint({ method: 'POST', path: 'confirm', callers: ['core'] })
  async confirm(@Body() { acceptances }: ConfirmDto): Promise<ConfirmAnswer> {
    return { valid: await answered(this.registry.confirm(acceptances)) };
  }

  @InternalEndpoint({ method: 'POST', path: 'usage', callers: EVERY_MODULE, success: 204 })
  usage(@Body() { uses }: UsageDto): Promise<void> {
    return answered(this.registry.reportUsage(uses));
  }

  /** By the key, a user's session, a client, who made something, a key's id, or the organization alone. */
  private ask(body: ResolveDto): Promise<ResolvedCredential> {
    const { key_hash, organization_id, api_key_id, session_id, user_id, maker_type, maker_id } = body;
    const { client_id, client_generation } = body;
    const ids = [organization_id, api_key_id, session_id, user_id, maker_type, maker_id];
    const others = [...ids, client_id, client_generation].filter((id) => id !== undefined).length;
    if (key_hash !== undefined && others === 0) return this.registry.resolve(key_hash, TIMEOUT_MS);
    if (key_hash !== undefined || organization_id === undefined) throw eitherOr();
    if (session_id !== undefined && user_id !== undefined && others === 3)
      return this.registry.resolveSession({ organization_id, session_id, user_id }, TIMEOUT_MS);
    if (client_id !== undefined && client_generation !== undefined && others === 3)
      return this.registry.resolveClient({ organization_id, client_id, client_generation }, TIMEOUT_MS);
    if (maker_type !== undefined && maker_id !== undefined && others === 3)
      return this.registry.resolveMaker({ organization_id, maker_type, maker_id }, TIMEOUT_MS);
    if (others > (api_key_id === undefined ? 1 : 2)) throw eitherOr();
    const tenant = { organization_id, ...(api_key_id === undefined ? {} : { api_key_id }) };
    return this.registry.resolveTenant(tenant, TIMEOUT_MS);
  }
}

function eitherOr(): Problem {
  const detail = 'Either `key_hash` or `organization_id` is needed.';
  return Problem.validation([{ pointer: '/key_hash', code: 'required', detail }]);
}

/** The registry's own words as problems of the internal interface. */
async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof UnknownCredential) {
      throw new Problem('not_found', { members: { reason: error.reason } });
    }
    if (error instanceof RegistryUnavailable) throw new Problem('dependency_unavailable', { cause: error });
    throw error;
  }
}
