import { newId } from '@customer-platform/database';
import {
  anOrganization,
  type Answer,
  type Caller,
  contactChange,
  domainEvent,
  expectStatus,
  type TestApp,
} from '@customer-platform/testing';
import type { Permission } from '@customer-platform/permissions';
import { ContactRefsConsumer } from '../contact-refs/contact-refs.consumer.js';
import type { TestCrm } from '../crm.fixture.js';
import type { ObjectDefinitionDto } from './definitions/object-definition.dto.js';
import type { ObjectRecordDto } from './records/object-record.dto.js';

/** Where definitions and records are. */
export const DEFINITIONS = '/v1/crm/object-definitions';
export const OBJECTS = '/v1/crm/objects';

/** The permissions of definitions and records. */
export const OBJECT_PERMISSIONS = {
  read: 'crm.objects.read',
  create: 'crm.objects.create',
  update: 'crm.objects.update',
  delete: 'crm.objects.delete',
  purge: 'crm.objects.purge',
} as const satisfies Record<string, Permission>;

/** A record as a test names it. */
type Values = Record<string, unknown>;

/** An organization with a caller who may do everything with objects. */
export class ObjectWorld {
  readonly organizationId: string;
  readonly caller: Caller;
  private version = 1;

  constructor(
    readonly crm: TestCrm,
    organizationId = anOrganization().id,
    app: Pick<TestApp, 'as'> = crm.app,
  ) {
    this.organizationId = organizationId;
    this.caller = app.as(organizationId, Object.values(OBJECT_PERMISSIONS));
  }

  async define(
    slug: string,
    fields: readonly object[] = [],
    override: object = {},
  ): Promise<ObjectDefinitionDto> {
    const body = { slug, name: `The ${slug}`, fields, ...override };
    const answer = await this.caller.post<ObjectDefinitionDto>(DEFINITIONS, body);
    expectStatus(answer, 201);
    return answer.body;
  }

  redefine({ id }: { id: string }, body: object): Promise<Answer<ObjectDefinitionDto>> {
    return this.caller.patch<ObjectDefinitionDto>(`${DEFINITIONS}/${id}`, body);
  }

  async definition({ id }: { id: string }): Promise<ObjectDefinitionDto> {
    const answer = await this.caller.get<ObjectDefinitionDto>(`${DEFINITIONS}/${id}`);
    expectStatus(answer, 200);
    return answer.body;
  }

  post(slug: string, values: Values): Promise<Answer<ObjectRecordDto>> {
    return this.caller.post<ObjectRecordDto>(`${OBJECTS}/${slug}`, { values });
  }

  async add(slug: string, values: Values): Promise<ObjectRecordDto> {
    const answer = await this.post(slug, values);
    expectStatus(answer, 201);
    return answer.body;
  }

  patch(slug: string, { id }: { id: string }, values: Values): Promise<Answer<ObjectRecordDto>> {
    return this.caller.patch<ObjectRecordDto>(`${OBJECTS}/${slug}/${id}`, { values });
  }

  get(slug: string, { id }: { id: string }): Promise<Answer<ObjectRecordDto>> {
    return this.caller.get<ObjectRecordDto>(`${OBJECTS}/${slug}/${id}`);
  }

  async list(slug: string, query = ''): Promise<ObjectRecordDto[]> {
    const answer = await this.caller.get<{ data: ObjectRecordDto[] }>(`${OBJECTS}/${slug}${query}`);
    expectStatus(answer, 200);
    return answer.body.data;
  }

  /** One field of the records of a list, in its order. */
  async column(slug: string, key: string, query = ''): Promise<unknown[]> {
    return (await this.list(slug, query)).map(({ values }) => values[key]);
  }

  delete(slug: string, { id }: { id: string }, suffix = ''): Promise<Answer<unknown>> {
    return this.caller.delete(`${OBJECTS}/${slug}/${id}${suffix}`);
  }

  restore(slug: string, { id }: { id: string }): Promise<Answer<ObjectRecordDto>> {
    return this.caller.post<ObjectRecordDto>(`${OBJECTS}/${slug}/${id}/restore`);
  }

  /** Contacts that core has told of. */
  async contacts(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newId());
    await this.consumer.follow(
      ids.map((id) => domainEvent('core.contact.created.v1', this.organizationId, contactChange(id, 1))),
    );
    return ids;
  }

  async merge(survivor: string, merged: string, verb: 'merged' | 'unmerged' = 'merged'): Promise<void> {
    this.version += 1;
    const told = {
      merge_id: newId(),
      survivor_id: survivor,
      merged_id: merged,
      survivor_version: this.version,
      merged_version: this.version,
    };
    await this.consumer.follow([domainEvent(`core.contact.${verb}.v1`, this.organizationId, told)]);
  }

  async end(id: string, verb: 'purged' | 'erased'): Promise<void> {
    this.version += 1;
    const end = { contact_id: id, version: this.version, changed_fields: [], contact: null };
    await this.consumer.follow([domainEvent(`core.contact.${verb}.v1`, this.organizationId, end)]);
  }

  private get consumer(): ContactRefsConsumer {
    return this.crm.app.app.get(ContactRefsConsumer);
  }
}
