import type { IncomingMessage } from 'node:http';
import { Injectable, Module } from '@nestjs/common';
import { PERMISSIONS, type Permission } from '@customer-platform/permissions';
import { Problem } from '@customer-platform/problem-json';
import {
  ApplicationPassport,
  CredentialStrategy,
  IDEMPOTENCY_STORE,
  rawBodyOf,
  REFUSAL_RECORDER,
  type AnswerToKeep,
  type AuthenticatedCaller,
  type CallingModule,
  type IdempotencyClaim,
  type IdempotencyScope,
  type IdempotencyStore,
  type RefusalRecorder,
  type RefusedCall,
  type RequestContext,
  type StoredAnswer,
} from '../src/index.js';
import { InternalThingsController, ThingsController } from './things.controller.js';

/** Answers by the token: `all`, `but:<permission>`, `only:<permission>`, `suspended`, `expired`, `away`, `no-mfa`. */
function callerOf({ headers }: IncomingMessage): AuthenticatedCaller {
  const token = headers.authorization?.replace('Bearer ', '');
  if (token === undefined) throw new Problem('missing_credentials');
  if (token === 'expired') throw new Problem('token_expired');
  if (token === 'away') throw new Problem('authorization_unavailable');
  const [kind = '', permission = ''] = token.split(':');
  if (!['all', 'but', 'only', 'suspended', 'no-mfa', 'other'].includes(kind))
    throw new Problem('invalid_token');
  const permissions = new Set<Permission>(
    PERMISSIONS.filter((one) =>
      kind === 'only' ? one === permission : kind === 'but' ? one !== permission : true,
    ),
  );
  const id =
    kind === 'other' ? '00000000-0000-7000-8000-00000000000b' : '00000000-0000-7000-8000-00000000000a';
  const restriction =
    kind === 'suspended' ? 'organization_suspended' : kind === 'no-mfa' ? 'mfa_required' : null;
  return {
    organizationId: id,
    organization: { id, status: 'active', settings: {} },
    principal: { type: 'api_key', id: 'key' },
    actor: { type: 'api_key', id: 'key' },
    permissions,
    restriction,
  };
}

@Injectable()
class TestCallers extends CredentialStrategy('api_credential') {
  // Nest reads what a constructor takes from the class itself.
  constructor(passport: ApplicationPassport) {
    super(passport);
  }

  override validate(request: IncomingMessage): AuthenticatedCaller {
    return callerOf(request);
  }
}

@Injectable()
class TestMembers extends CredentialStrategy('member_token') {
  constructor(passport: ApplicationPassport) {
    super(passport);
  }

  override validate(request: IncomingMessage): AuthenticatedCaller {
    return { ...callerOf(request), principal: { type: 'member', id: 'contact' } };
  }
}

@Injectable()
class TestTenants extends CredentialStrategy('tenant_token') {
  constructor(passport: ApplicationPassport) {
    super(passport);
  }

  override validate(request: IncomingMessage): AuthenticatedCaller | undefined {
    return request.headers.authorization === undefined ? undefined : callerOf(request);
  }
}

/** Every module may call. */
@Injectable()
class TestServices extends CredentialStrategy('service_token') {
  constructor(passport: ApplicationPassport) {
    super(passport);
  }

  override validate(): CallingModule {
    return { module: 'core' };
  }
}

/** Every body is taken as signed. */
@Injectable()
class TestProviders extends CredentialStrategy('provider_signature') {
  constructor(passport: ApplicationPassport) {
    super(passport);
  }

  override async validate(request: IncomingMessage): Promise<object> {
    return { bytes: (await rawBodyOf(request)).length };
  }
}

/** Keeps answers in memory, by the contract of {@link IdempotencyStore}. */
export class MemoryStore implements IdempotencyStore {
  private readonly held = new Map<string, { fingerprint: string; claimId: string; answer?: StoredAnswer }>();
  private claims = 0;

  async claim(scope: IdempotencyScope, fingerprint: string): Promise<IdempotencyClaim> {
    const key = JSON.stringify(scope);
    const found = this.held.get(key);
    if (!found) {
      const claimId = String(++this.claims);
      this.held.set(key, { fingerprint, claimId });
      return { state: 'claimed', claimId };
    }
    if (!found.answer) return { state: 'in_progress', fingerprint: found.fingerprint };
    return { state: 'answered', fingerprint: found.fingerprint, answer: found.answer };
  }

  async perform<T>(
    scope: IdempotencyScope,
    claimId: string,
    run: () => Promise<T>,
    answer: AnswerToKeep<T>,
  ): Promise<T> {
    const result = await run();
    const found = this.held.get(JSON.stringify(scope));
    if (found?.claimId === claimId) found.answer = answer.of(result);
    return result;
  }

  async release(scope: IdempotencyScope): Promise<void> {
    this.held.delete(JSON.stringify(scope));
  }
}

/** The refused calls that were to be recorded, and what the next record fails with. */
export const refusals: { organizationId: string; call: RefusedCall }[] = [];
export const recording: { fails?: Error } = {};

class ListedRefusals implements RefusalRecorder {
  async refused({ organizationId }: RequestContext, call: RefusedCall): Promise<void> {
    if (recording.fails) throw recording.fails;
    refusals.push({ organizationId, call });
  }
}

/** An app with a route of every kind. */
@Module({
  controllers: [ThingsController, InternalThingsController],
  providers: [
    ApplicationPassport,
    TestCallers,
    TestMembers,
    TestTenants,
    TestServices,
    TestProviders,
    { provide: IDEMPOTENCY_STORE, useClass: MemoryStore },
    { provide: REFUSAL_RECORDER, useClass: ListedRefusals },
  ],
})
export class ThingsModule {}
