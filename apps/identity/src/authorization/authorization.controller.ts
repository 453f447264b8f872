import { Controller } from '@nestjs/common';
import {
  InternalEndpoint,
  RegistryUnavailable,
  UnknownCredential,
  type ChangesPage,
  type ConfirmAnswer,
  type ModuleName,
  type ResolvedCredential,
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
    const { key_hash: keyHash, organization_id: organization, api_key_id: key } = body;
    if (keyHash !== undefined && organization === undefined && key === undefined)
      return answered(this.registry.resolve(keyHash, TIMEOUT_MS));
    if (keyHash !== undefined || organization === undefined) throw eitherOr();
    const tenant = { organization_id: organization, ...(key === undefined ? {} : { api_key_id: key }) };
    return answered(this.registry.resolveTenant(tenant, TIMEOUT_MS));
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
