import { Controller } from '@nestjs/common';
import { Problem } from '@customer-platform/problem-json';
import {
  AnyBody,
  Answer,
  Body,
  Context,
  CreateEndpoint,
  Endpoint,
  etagOf,
  GetEndpoint,
  Id,
  IdempotencyKey,
  OptionalContext,
  ListEndpoint,
  ListRequest,
  PathText,
  PurgeEndpoint,
  Query,
  RawBody,
  requireMatch,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
  type ListQuery,
  type Page,
  type RequestContext,
} from '../src/index.js';
import { ReportQuery, ThingDto, ThingPatchDto, thingList } from './thing.dto.js';

/** How often the handler of a POST ran, by name: for tests of repeats. */
export const created: string[] = [];
/** What the next POST waits for. */
export const gate: { opens?: Promise<void> } = {};

/** A route of every kind. */
@Controller('v1/crm/things')
export class ThingsController {
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

  @GetEndpoint({
    permission: 'core.contacts.read_national_id',
    path: ':id/secret',
    summary: 'What it is worth knowing who tried to read',
    auditRefusals: true,
  })
  secret(@Id() id: string): { id: string } {
    return { id };
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
  update(@Context() context: RequestContext, @Id() id: string, @Body() thing: ThingPatchDto): object {
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
  form(@OptionalContext() context: RequestContext | undefined, @AnyBody() body: unknown): object {
    return { body, principal: context?.principal };
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

/** A route between modules. */
@Controller('internal/things')
export class InternalThingsController {
  @Endpoint({ method: 'POST', authorization: 'service', summary: 'Between modules', success: 200 })
  between(@AnyBody() body: unknown): object {
    return { body };
  }
}
