import { randomUUID } from 'node:crypto';
import { isPermission, PERMISSIONS, type Permission } from '@customer-platform/permissions';
import type { Answer, Caller } from './caller.js';
import { anOrganization } from './fixtures.js';
import type { TestApp } from './test-app.js';

/** A resource of the common administrative form, as the behaviour suite needs to know it. */
export interface SoftDeletableResource {
  /** The running app; asked for once the suite's `beforeAll` has run. */
  app: () => TestApp;
  /** `/v1/loyalty/rules`. */
  path: string;
  /** The permission of each call: `{ read: 'loyalty.rules.read', … }`. */
  permissions: Record<'read' | 'create' | 'update' | 'delete' | 'purge', Permission>;
  /** What `body` and `patch` ask of a caller beside the permission of the call: who gives something must hold it. */
  needsBeside?: readonly Permission[];
  /** A valid body; bodies of different numbers do not collide. May first make what it refers to. */
  body: (number: number, organizationId: string) => object | Promise<object>;
  /** What an organization must have before any call: a definition that the path names. */
  prepare?: (organizationId: string) => Promise<void>;
  /** A patch that changes something; patches of different numbers differ. */
  patch: (number: number) => object;
  /** The unique field, if there is one: the value is then taken by a second active row with the same number. */
  unique?: string;
  /** Where the refusal of a taken value points to, unless to `/` and the field. */
  uniquePointer?: string;
  /** Members of the answer to a POST that no later answer shows. */
  shownOnce?: readonly string[];
  /** Credentials beyond the app's usual: for resources that depend on a setting of the organization. */
  settings?: Record<string, unknown>;
}

/** What every item of every such resource has. */
export interface ResourceItem {
  id: string;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
  [field: string]: unknown;
}

/** A page of such items. */
export interface ResourcePage {
  data: ResourceItem[];
  page: { limit: number; next_cursor: string | null };
}

/** A problem as a test looks at it. */
export interface ProblemAnswer {
  code: string;
  detail: string;
  errors?: { pointer?: string; parameter?: string; code: string; detail?: string }[];
  [member: string]: unknown;
}

/** A resource in an organization of its own, with a caller who may do everything. */
export class ResourceWorld {
  readonly organizationId = anOrganization().id;
  readonly all: Caller;
  private count = 0;

  constructor(readonly resource: SoftDeletableResource) {
    this.all = this.as([...Object.values(resource.permissions), ...(resource.needsBeside ?? [])]);
  }

  /** A world in which the resource can be called. */
  static async of(resource: SoftDeletableResource): Promise<ResourceWorld> {
    const world = new ResourceWorld(resource);
    await resource.prepare?.(world.organizationId);
    return world;
  }

  get path(): string {
    return this.resource.path;
  }

  /** A caller with these permissions in this world's organization. */
  as(permissions: readonly Permission[]): Caller {
    return this.resource.app().as(this.organizationId, permissions, this.resource.settings);
  }

  /** A caller who holds every permission there is but one. */
  without(permission: Permission): Caller {
    return this.as(PERMISSIONS.filter((each) => isPermission(each) && each !== permission));
  }

  async nextBody(number?: number): Promise<object> {
    this.count += 1;
    return this.resource.body(number ?? this.count, this.organizationId);
  }

  /** A new active item, as it is read. */
  async create(number?: number): Promise<ResourceItem> {
    const answer = await this.all.post<ResourceItem>(this.path, await this.nextBody(number));
    expectStatus(answer, 201);
    return this.withoutShownOnce(answer.body);
  }

  /** An answer to a POST without what it alone shows; all of that must be there. */
  withoutShownOnce(item: ResourceItem): ResourceItem {
    const { shownOnce = [] } = this.resource;
    for (const member of shownOnce) {
      if (item[member] === undefined) throw new Error(`the answer does not show ${member}`);
    }
    const rest = Object.entries(item).filter(([member]) => !shownOnce.includes(member));
    return Object.fromEntries(rest) as ResourceItem;
  }

  /** A new soft-deleted item. */
  async createDeleted(number?: number): Promise<ResourceItem> {
    const item = await this.create(number);
    expectStatus(await this.all.delete(this.at(item)), 204);
    return (await this.all.get<ResourceItem>(this.at(item))).body;
  }

  at(item: { id: string }, suffix = ''): string {
    return `${this.path}/${item.id}${suffix}`;
  }
}

/** Every call on one item, by the permission it needs. */
export const ITEM_CALLS: readonly {
  name: string;
  permission: keyof SoftDeletableResource['permissions'];
  call: (caller: Caller, world: ResourceWorld, id: string) => Promise<Answer<ProblemAnswer>>;
}[] = [
  { name: 'GET', permission: 'read', call: (caller, world, id) => caller.get(world.at({ id })) },
  {
    name: 'PATCH',
    permission: 'update',
    call: (caller, world, id) => caller.patch(world.at({ id }), world.resource.patch(1)),
  },
  { name: 'DELETE', permission: 'delete', call: (caller, world, id) => caller.delete(world.at({ id })) },
  {
    name: 'POST restore',
    permission: 'delete',
    call: (caller, world, id) => caller.post(world.at({ id }, '/restore')),
  },
  {
    name: 'DELETE purge',
    permission: 'purge',
    call: (caller, world, id) => caller.delete(world.at({ id }, '/purge')),
  },
];

/** Fails with the whole answer, so that a wrong status explains itself. */
export function expectStatus(answer: Answer<unknown>, status: number): void {
  if (answer.status !== status) {
    throw new Error(`expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
}

/** Expects a problem with this code and its registered media type. */
export function expectProblem(answer: Answer<unknown>, status: number, code: string): ProblemAnswer {
  expectStatus(answer, status);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  const problem = answer.body as ProblemAnswer;
  expect(problem.code).toBe(code);
  expect(problem['correlation_id']).toEqual(answer.headers.get('x-correlation-id'));
  return problem;
}

/** An id that nobody has. */
export function unknownId(): string {
  return randomUUID();
}
