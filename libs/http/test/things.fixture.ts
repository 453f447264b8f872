import { Controller, Module, Get } from '@nestjs/common';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { PERMISSIONS, type Permission } from '@customer-platform/permissions';
import { Problem } from '@customer-platform/problem-json';
import {
  AnyBody,
  Answer,
  AUTHENTICATOR,
  Body,
  Context,
  createApp,
  CreateEndpoint,
  custom,
  Endpoint,
  etagOf,
  GetEndpoint,
  Id,
  IdempotencyKey,
  IDEMPOTENCY_STORE,
  IsInstant,
  ListEndpoint,
  ListRequest,
  MayBeAbsent,
  MayBeNull,
  MEMBER_AUTHENTICATOR,
  PathText,
  PurgeEndpoint,
  Query,
  RawBody,
  requireMatch,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
  type AuthenticatedCaller,
  type Authenticator,
  type BootOptions,
  type IdempotencyClaim,
  type IdempotencyScope,
  type IdempotencyStore,
  type ListDefinition,
  type ListQuery,
  type MemberAuthenticator,
  type Page,
  type RequestContext,
  type RunningApp,
  type StoredAnswer,
} from '../src/index.js';

/** A nested part of a {@link ThingDto}. */
export class PartDto {
  @IsString()
  @MaxLength(10)
  name: string;
}

/** A body with one field of each kind. */
export class ThingDto {
  @Length(1, 20)
  name: string;

  @MayBeAbsent()
  @IsInt()
  @Min(1)
  @Max(9)
  size?: number;

  @MayBeAbsent()
  @MayBeNull()
  @IsIn(['red', 'blue'])
  color?: 'red' | 'blue' | null;

  @MayBeAbsent()
  @IsInstant()
  at?: string;

  @MayBeAbsent()
  @custom('notAnonymous', (value) => value !== 'anonymous', { context: { code: 'placeholder_identifier' } })
  external_id?: string;

  @MayBeAbsent()
  @IsArray()
  @ArrayMaxSize(2)
  @ValidateNested({ each: true })
  @Type(() => PartDto)
  parts?: PartDto[];
}

/** A query that is no list. */
export class ReportQuery {
  @MayBeAbsent()
  @IsIn(['day', 'month'])
  granularity?: 'day' | 'month';
}

/** What the list of things takes. */
export const thingList: ListDefinition = {
  resource: 'things',
  filters: {
    name: { type: 'string', column: 'name', ops: ['eq', 'ne', 'in', 'prefix', 'is_null'] },
    owner_id: { type: 'uuid', column: 'owner_id' },
    state: { type: 'enum', column: 'state', values: ['open', 'closed'] },
    created_at: { type: 'time', column: 'created_at' },
    size: { type: 'integer', column: 'size' },
    ratio: { type: 'number', column: 'ratio' },
    day: { type: 'date', column: 'day' },
    done: { type: 'boolean', column: 'done' },
  },
  sorts: {
    created_at: { column: 'created_at', type: 'time' },
    name: { column: 'name', type: 'string', nulls: 'last' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
  timelineSource: { occurredAt: 'occurred_at' },
  extraParameters: { view: { type: 'enum', values: ['short', 'long'] } },
};

/** How often the handler of a POST ran, by name: for tests of repeats. */
export const created: string[] = [];
/** What the next POST waits for. */
export const gate: { opens?: Promise<void> } = {};

@Controller('v1/crm/things')
class ThingsController {
  @ListEndpoint({ permission: 'crm.notes.read', summary: 'List things', response: ThingDto })
  list(@Context() _context: RequestContext, @ListRequest(thingList) query: ListQuery): Page<unknown> {
    const next = query.cursorFor(['2026-11-21T09:30:00.000Z', '01890000-0000-7000-8000-000000000001']);
    const seen = { ...query, cursorFor: undefined };
    return { data: [seen], page: { limit: query.limit, next_cursor: next } };
  }

  @CreateEndpoint({
    permission: 'crm.notes.create',
    summary: 'Create a thing',
    response: ThingDto,
    secretFields: ['secret'],
  })
  async create(@Context() context: RequestContext, @Body() thing: ThingDto): Promise<Answer> {
    created.push(thing.name);
    await gate.opens;
    if (thing.name === 'refused') throw new Problem('limit_reached');
    const body = { ...thing, organization_id: context.organizationId, secret: 'shown once' };
    return Answer.created(body, '/v1/crm/things/1');
  }

  @Endpoint({ method: 'GET', path: 'report', permission: 'crm.notes.read', summary: 'A report' })
  report(@Query() query: ReportQuery): ReportQuery {
    return query;
  }

  @Endpoint({ method: 'GET', path: 'broken', permission: 'crm.notes.read', summary: 'Fails' })
  broken(): never {
    throw new Error('duplicate key value violates unique constraint "things_pkey" at /srv/app/x.js:1:2');
  }

  @Endpoint({ method: 'GET', path: 'moved', permission: 'crm.notes.read', summary: 'Moves' })
  moved(): Answer {
    return Answer.redirect('/v1/crm/things/2');
  }

  @Endpoint({
    method: 'GET',
    path: 'mfa',
    permission: 'identity.mfa.read',
    accepts: 'user',
    summary: 'Own factors',
  })
  mfa(@Context() context: RequestContext): object {
    return { principal: context.principal, can: context.can('crm.notes.read'), ip: context.ip };
  }

  @Endpoint({ method: 'GET', path: 'slow', authorization: 'none', summary: 'Waits' })
  async slow(): Promise<object> {
    await gate.opens;
    return { slow: true };
  }

  @GetEndpoint({ permission: 'crm.notes.read', summary: 'Read a thing', response: ThingDto })
  get(@Id() id: string): Answer {
    return Answer.tagged({ id }, etagOf(1));
  }

  @UpdateEndpoint({ permission: 'crm.notes.update', summary: 'Change a thing', response: ThingDto })
  update(@Context() context: RequestContext, @Id() id: string, @Body() thing: ThingDto): object {
    requireMatch(context.ifMatch, etagOf(1));
    return { id, ...thing };
  }

  @SoftDeleteEndpoint({ permission: 'crm.notes.delete', summary: 'Soft-delete a thing' })
  softDelete(@Id() _id: string): void {
    // nothing to answer
  }

  @RestoreEndpoint({ permission: 'crm.notes.delete', summary: 'Restore a thing', response: ThingDto })
  restore(@Id() id: string): object {
    return { id };
  }

  @PurgeEndpoint({ permission: 'crm.notes.purge', summary: 'Purge a thing' })
  purge(@Id() _id: string): void {
    throw new Problem('resource_referenced', {
      members: { references: [{ module: 'crm', resource: 'notes', count: 2 }] },
    });
  }

  @Endpoint({
    method: 'POST',
    path: 'sends',
    permission: 'messaging.sends.create',
    apiClass: 'runtime',
    latencyClass: 'messaging_runtime',
    success: 202,
    summary: 'Needs a key',
    idempotency: 'own',
    problems: ['idempotency_key_required'],
  })
  send(@IdempotencyKey({ required: true }) key: string): object {
    return { key };
  }

  @Endpoint({
    method: 'POST',
    path: 'webhooks/:provider',
    authorization: 'provider_hmac',
    apiClass: 'runtime',
    summary: 'Takes raw bytes',
    body: 'raw',
    bodyLimit: 1024,
    gzip: true,
  })
  webhook(@PathText('provider') provider: string, @RawBody() bytes: Buffer): object {
    return { provider, bytes: bytes.length };
  }

  @Endpoint({
    method: 'POST',
    path: 'forms',
    authorization: 'tenant_token',
    apiClass: 'member',
    summary: 'Takes a form or JSON',
    body: 'json|form',
    gzip: true,
  })
  form(@AnyBody() body: unknown): object {
    return { body };
  }

  @Endpoint({
    method: 'GET',
    path: 'me',
    authorization: 'member_token',
    apiClass: 'member',
    summary: 'A member',
  })
  me(@Context() context: RequestContext): object {
    return context.principal;
  }
}

@Controller('internal/things')
class InternalThingsController {
  @Endpoint({ method: 'POST', authorization: 'service', summary: 'Between modules', success: 200 })
  between(@AnyBody() body: unknown): object {
    return { body };
  }
}

/** Answers by the token: `all`, `but:<permission>`, `only:<permission>`, `suspended`, `expired`, `away`, `no-mfa`. */
class TestAuthenticator implements Authenticator, MemberAuthenticator {
  async authenticate(request: { headers: { authorization?: string } }): Promise<AuthenticatedCaller> {
    const token = request.headers.authorization?.replace('Bearer ', '');
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

  async authenticateMember(request: { headers: { authorization?: string } }): Promise<AuthenticatedCaller> {
    const caller = await this.authenticate(request);
    return { ...caller, principal: { type: 'member', id: 'contact' } };
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

  async settle(scope: IdempotencyScope, claimId: string, answer: StoredAnswer): Promise<void> {
    const found = this.held.get(JSON.stringify(scope));
    if (found?.claimId === claimId) found.answer = answer;
  }

  async release(scope: IdempotencyScope): Promise<void> {
    this.held.delete(JSON.stringify(scope));
  }
}

@Module({
  controllers: [ThingsController, InternalThingsController],
  providers: [
    TestAuthenticator,
    { provide: AUTHENTICATOR, useExisting: TestAuthenticator },
    { provide: MEMBER_AUTHENTICATOR, useExisting: TestAuthenticator },
    { provide: IDEMPOTENCY_STORE, useClass: MemoryStore },
  ],
})
/** An app with a route of every kind. */
export class ThingsModule {}

@Controller('v1/crm/open')
class OpenController {
  @Get()
  forgotten(): string {
    return 'open to all';
  }
}

/** An app that must not start: a route nobody guards. */
@Module({ controllers: [OpenController] })
export class OpenModule {}

/** The environment of an app in tests. */
export const testEnv = { CURSOR_SECRET: 'c'.repeat(32), LOG_LEVEL: 'silent' };

/** Starts the app of things. */
export function startThings(options: Partial<BootOptions> = {}): Promise<RunningApp> {
  return createApp({ module: 'crm', root: ThingsModule, env: testEnv, ...options });
}
