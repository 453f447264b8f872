import { randomUUID } from 'node:crypto';
import { eventually, type Caller, type PlatformUnderTest, type Tenant } from '@customer-platform/testing';
import { EVENT, prepareChain, sendPurchase } from './chain.fixture.js';
import { done, newSupporter, obtainCredentials, type Credentials } from './credentials.fixture.js';
import {
  aKeySet,
  aNationalId,
  ATTRIBUTES,
  FIELDS,
  RULES,
  RULES_OF_POINTS,
  SCHEMAS,
  TYPES,
  valueIn,
  type Bodies,
  type Body,
} from './edge-bodies.fixture.js';
import { collectionOf } from './documented-routes.fixture.js';
import type { Place } from './edges.fixture.js';
import { importContacts } from './imports.fixture.js';
import { RECORDS, SLUG } from './route-paths.fixture.js';

/** An organization with something behind every route, and bodies that each route takes. */
export class EdgeWorld {
  /** Ids of what stands behind routes, by the collection's path. */
  readonly ids = new Map<string, string>();
  private count = 0;
  private loyal = '';

  private constructor(
    readonly platform: PlatformUnderTest,
    readonly tenant: Tenant,
    readonly credentials: Credentials,
    /** An owner, signed in with a second factor: routes that no key may call. */
    readonly supporter: Caller,
  ) {}

  static async make(platform: PlatformUnderTest): Promise<EdgeWorld> {
    const tenant = await platform.tenant();
    await prepareChain(tenant);
    const credentials = await obtainCredentials(platform, tenant);
    const world = new EdgeWorld(platform, tenant, credentials, await newSupporter(platform, tenant));
    await world.fill();
    return world;
  }

  get admin(): Caller {
    return this.tenant.admin;
  }

  id(collection: string): string {
    return this.ids.get(collection) ?? randomUUID();
  }

  /** Fields and filters of what the organization has declared: of records, of attributes and of activities. */
  placesOfItsOwn(): Place[] {
    const declared = Object.keys(TYPES).map((type) => ({ key: `a_${type}`, schema: SCHEMAS[type] ?? {} }));
    const bodies = [
      `POST ${RECORDS}`,
      'POST /v1/core/contacts',
      'POST /v1/core/identify',
      'POST /v1/crm/activities',
    ];
    const inner: Readonly<Record<string, string>> = { contacts: 'attributes', identify: 'traits' };
    const fields = bodies.flatMap((route) => {
      const [method = '', path = ''] = route.split(' ');
      const outer = inner[path.split('/').at(-1) ?? ''] ?? 'values';
      const of = outer === 'values' && path === RECORDS ? declared : declared.slice(0, ATTRIBUTES.length);
      return of.map(({ key, schema }): Place => ({ method, path, at: 'body', field: [outer, key], schema }));
    });
    const filters = declared.flatMap(({ key, schema }) =>
      ['', '[is_null]', ...(/integer|number|date/.test(key) ? ['[gte]', '[lt]'] : [])].map((op): Place => ({
        method: 'GET',
        path: RECORDS,
        at: 'query',
        field: [`values.${key}${op}`],
        schema: op === '[is_null]' ? { type: 'boolean' } : schema,
      })),
    );
    return [...fields, ...filters];
  }

  /** The path of a place with ids of what there is; how long things are kept only an organization itself says. */
  pathOf({ path, field }: Pick<Place, 'path' | 'field'>): string {
    if (field[1] === 'retention' || field[1] === 'member_jwks') return path.replace('{id}', this.tenant.id);
    const collection = path.includes('/{id}') ? collectionOf({ path }) : path;
    return path
      .replace('{id}', this.id(collection))
      .replace('{slug}', SLUG)
      .replaceAll(/\{\w+\}/g, randomUUID());
  }

  /** Who may call a route. */
  callerOf({ path, authorization }: { path: string; authorization?: string }): Caller {
    if (authorization === 'member_token') return this.platform.as(this.credentials.memberToken);
    if (/\/mfa|\/users\/me\b|\/impersonations$|\/test$/.test(path) && !path.includes('webhook-endpoints'))
      return this.supporter;
    return authorization === undefined || authorization === 'tenant_token'
      ? this.admin
      : this.platform.as(undefined);
  }

  /**
   * A body that the route takes, with a name that nothing else has: the first of several that has such a field, else
   * the first; undefined where its example is one.
   */
  bodyOf({ method, path }: Pick<Place, 'method' | 'path'>, field: readonly string[] = []): Body | undefined {
    this.count += 1;
    const name = `${String(this.count)}-${randomUUID().slice(0, 8)}`;
    const variants = [this.bodies(name)[`${method} ${path}`]?.() ?? []].flat();
    return variants.find((body) => valueIn(body, field) !== undefined) ?? variants[0];
  }

  private bodies(name: string): Bodies {
    const contact_id = this.id('/v1/core/contacts');
    const at = new Date(Date.now() - 1_000).toISOString();
    const event = { external_id: this.loyal, idempotency_key: name, occurred_at: at };
    const key = `k_${name.replaceAll('-', '_')}`;
    const email = `${name}@example.com`;
    return {
      ...this.bodiesOfCore(name, { contact_id, event, key, email }),
      ...this.bodiesOfIdentity(name, email),
      ...this.bodiesOfMessaging(name, email),
      'POST /v1/crm/activities': () => ({
        ...{ contact_id, type_id: this.id('/declared-type'), subject: name, status: 'completed' },
      }),
      'PATCH /v1/crm/activities/{id}': () => ({ status: 'completed' }),
      'POST /v1/crm/activity-types': () => ({
        ...{ key, name, outcomes: [{ key: 'done', label: 'A' }] },
        fields: [{ key: 'minutes', label: 'B', type: 'integer' }],
      }),
      'POST /v1/crm/lists': () => ({ name }),
      'POST /v1/crm/lists/{id}/members': () => ({ contact_ids: [contact_id] }),
      'POST /v1/crm/notes': () => ({ contact_id, body: name }),
      'POST /v1/crm/object-definitions': () => ({
        slug: key,
        name,
        fields: [{ key: 'plate', type: 'string' }],
      }),
      'PATCH /v1/crm/object-definitions/{id}': () => [{ name }, { fields: FIELDS }],
      [`POST ${RECORDS}`]: () => [{ values: { plate: name } }, { values: { a_reference: contact_id } }],
      [`PATCH ${RECORDS}/{id}`]: () => ({ values: { plate: name } }),
      'POST /v1/loyalty/rules': () => RULES_OF_POINTS.map((rule) => ({ name, event: name, ...rule })),
      'PATCH /v1/loyalty/rules/{id}': () => [{}, ...RULES_OF_POINTS],
      'POST /v1/loyalty/transactions': () => [
        { kind: 'adjust', contact_id, points: 1, reason: name },
        { kind: 'reverse', reverses_id: this.id('/v1/loyalty/transactions'), reason: name },
      ],
    };
  }

  private bodiesOfCore(
    name: string,
    { contact_id, event, key, email }: { contact_id: string; event: Body; key: string; email: string },
  ): Bodies {
    const item = { ...event, event: 'looked', properties: {} };
    const at = event['occurred_at'];
    return {
      'POST /v1/core/attribute-definitions': () => ({ key, type: 'string' }),
      'PATCH /v1/core/attribute-definitions/{id}': () => ({}),
      'POST /v1/core/batch': () => ({ events: [item] }),
      'POST /v1/core/contacts': () => [
        { external_id: name, country: 'CL' },
        { external_id: name, national_id: aNationalId() },
      ],
      'PATCH /v1/core/contacts/{id}': () => [{ country: 'CL' }, { national_id: aNationalId() }],
      'PATCH /v1/core/members/me/consents': () => ({
        consents: [{ purpose: 'marketing', status: 'withdrawn' }],
      }),
      'POST /v1/core/contacts/{id}/consents': () => ({
        ...{ purpose: 'marketing', status: 'granted', notice_version: '1', method: 'web_form' },
      }),
      'POST /v1/core/contacts/{id}/identities': () => ({ type: 'anonymous_id', value: name }),
      'POST /v1/core/contacts/lookup': () => ({ national_id: aNationalId() }),
      'POST /v1/core/identify': () => ({ ...event, traits: { first_name: 'Ana' } }),
      'POST /v1/core/track': () => item,
      'POST /v1/core/contacts/merge': () => [
        { survivor_id: contact_id, merged_id: this.id('/merged'), dry_run: true },
        { undo_merge_id: this.id('/merge'), dry_run: true },
      ],
      'POST /v1/core/members/token-exchange': () => ({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: this.loyal,
        subject_token_type: 'urn:customer-platform:token-type:external-id',
      }),
      'POST /v1/core/segments': () => RULES.map((rule) => ({ name, rule })),
      'PATCH /v1/core/segments/{id}': () => [{}, ...RULES.map((rule) => ({ rule }))],
      'POST /v1/core/segments/preview': () => RULES.map((rule) => ({ rule })),
      'POST /v1/core/subject-requests': () => [
        { type: 'portability', contact_id },
        { type: 'access', identity: { type: 'external_id', value: this.loyal } },
        {
          type: 'access',
          contact_id,
          verification: { method: 'clave_unica', reference: name, verified_at: at },
        },
        { type: 'rectification', contact_id, corrections: [{ field: 'last_name', value: name }] },
        { type: 'opposition', contact_id, purposes: ['marketing'] },
      ],
      'PATCH /v1/core/subject-requests/{id}': () => [
        {},
        { verification: { method: 'clave_unica', reference: name, verified_at: at } },
        { rejection: { ground: 'not_verified', detail: name } },
        { completion: { outcome: name } },
      ],
      'POST /v1/core/taxonomies/{id}/install': () => ({}),
      'POST /v1/core/dead-letters/replay': () => ({ filter: { external_id: email } }),
    };
  }

  private bodiesOfIdentity(name: string, email: string): Bodies {
    const role_id = this.id('/machine-role');
    return {
      'POST /v1/identity/api-keys': () => ({ name, role_id }),
      'POST /v1/identity/impersonations': () => ({ user_id: this.id('/v1/identity/users'), reason: name }),
      'POST /v1/identity/invitations': () => ({ email }),
      'POST /v1/identity/mfa/enroll': () => ({ type: 'totp', name }),
      'POST /v1/identity/oauth-clients': () => ({
        ...{ name, type: 'public', redirect_uris: ['https://app.example/callback'] },
      }),
      'POST /v1/identity/organizations': () => ({ name, slug: `s-${name}` }),
      'PATCH /v1/identity/organizations/{id}': () => [{}, { settings: { member_jwks: aKeySet() } }],
      'POST /v1/identity/memberships': () => ({ user_id: this.id('/v1/identity/users') }),
      'POST /v1/identity/role-assignments': () => ({
        membership_id: this.id('/v1/identity/memberships'),
        role_id: this.id('/v1/identity/roles'),
      }),
      'POST /v1/identity/permissions/explain': () => ({
        principal: { type: 'user', id: this.id('/v1/identity/users') },
        permission: 'core.contacts.read',
      }),
      'POST /v1/identity/roles': () => ({ name, kind: 'human' }),
      'POST /v1/identity/sso-connections': () => ({
        ...{ name, protocol: 'oidc', issuer: 'https://idp.example.com', client_id: name },
        ...{ client_secret: 'a-secret', domains: [`${name}.example`] },
      }),
      'PATCH /v1/identity/sso-connections/{id}': () => ({}),
      'POST /v1/identity/users': () => ({ email, name }),
      'PATCH /v1/identity/users/{id}': () => ({}),
    };
  }

  private bodiesOfMessaging(name: string, address: string): Bodies {
    const template_id = this.id('/v1/messaging/templates');
    return {
      'POST /v1/messaging/campaigns': () => ({
        ...{ name, channel: 'email', template_id },
        audience: { type: 'list', id: this.id('/v1/crm/lists') },
      }),
      'PATCH /v1/messaging/campaigns/{id}': () => [
        {},
        { template_id, audience: { type: 'list', id: this.id('/v1/crm/lists') } },
      ],
      'PATCH /v1/messaging/contacts/{id}/preferences': () => ({ reason: name }),
      'POST /v1/messaging/event-routing': () => ({
        ...{ name, event_type: 'core.event.recorded', event_name: name, channel: 'email', template_id },
      }),
      'PATCH /v1/messaging/event-routing/{id}': () => [{}, { template_id }],
      'POST /v1/messaging/sender-domains': () => ({ domain: `d${name}.example` }),
      'POST /v1/messaging/sends': () => [
        { channel: 'email', recipient: { address }, content: { subject: 'Hi', text: 'Hi' } },
        {
          ...{ channel: 'email', recipient: { address }, from: 'shop@shop.example' },
          content: { subject: 'Hi', text: 'Hi' },
        },
        { channel: 'email', recipient: { address }, template_id, category: 'marketing', topic: 'news' },
      ],
      'POST /v1/messaging/templates/{id}/preview': () => [{}, { contact_id: this.id('/v1/core/contacts') }],
      'POST /v1/messaging/suppressions': () => ({ channel: 'email', address }),
      'POST /v1/messaging/templates': () => ({
        ...{ name, channel: 'email', default_locale: 'es' },
        locales: { es: { subject: 'Hola', html: '<p>Hola</p>' } },
      }),
      'PATCH /v1/messaging/templates/{id}': () => ({}),
      'POST /v1/messaging/webhook-endpoints': () => ({
        ...{ name, url: 'http://127.0.0.1:9/', events: ['messaging.*'], enabled: false },
      }),
      'PATCH /v1/messaging/webhook-endpoints/{id}': () => [
        {},
        { replay_since: new Date(Date.now() - 3_600_000).toISOString() },
      ],
    };
  }

  private async fill(): Promise<void> {
    const { externalId } = await sendPurchase(this.tenant.ingestion);
    this.loyal = externalId;
    const contact = await eventually(
      async () => {
        const path = `/v1/core/events?event=${EVENT}&external_id=${externalId}`;
        const { data } = await done<{ data: { contact_id: string }[] }>(this.admin.get(path));
        if (!data[0]) throw new Error('the event is not there yet');
        return data[0].contact_id;
      },
      { within: 60_000 },
    );
    this.ids.set('/v1/core/contacts', contact);
    this.ids.set('/merged', (await this.make('/v1/core/contacts', { external_id: `m-${externalId}` })).id);
    const merged_id = (await this.make('/v1/core/contacts', { external_id: `o-${externalId}` })).id;
    const merge = { survivor_id: this.id('/merged'), merged_id };
    const { merge_id } = await done<{ merge_id: string }>(this.admin.post('/v1/core/contacts/merge', merge));
    this.ids.set('/merge', merge_id);
    await this.fillCore();
    await this.fillCrm();
    await this.fillIdentity();
    await this.fillMessaging();
  }

  private async fillCore(): Promise<void> {
    for (const type of ATTRIBUTES)
      await this.keep('/v1/core/attribute-definitions', { key: `a_${type}`, type });
    // What edges are written into, so that what was declared above stays.
    await this.keep('/v1/core/attribute-definitions');
    await this.keep('/v1/core/segments');
    await this.keep('/v1/core/subject-requests');
    await importContacts(this.admin);
    for (const path of ['/v1/core/taxonomies', '/v1/core/imports'])
      this.ids.set(path, await this.firstOf(path));
    this.ids.set('/v1/loyalty/contacts', this.id('/v1/core/contacts'));
    this.ids.set('/v1/crm/contacts', this.id('/v1/core/contacts'));
    this.ids.set('/v1/messaging/contacts', this.id('/v1/core/contacts'));
    this.ids.set('/v1/loyalty/transactions', await this.firstOf('/v1/loyalty/transactions'));
  }

  private async fillCrm(): Promise<void> {
    await this.keep('/v1/crm/object-definitions', { slug: SLUG, name: 'Vehicle', fields: FIELDS });
    await this.keep('/v1/crm/activity-types', {
      ...{ key: 'call_back', name: 'Call back', outcomes: [{ key: 'reached', label: 'A' }] },
      fields: ['string', 'integer', 'number', 'boolean', 'date', 'datetime'].map((type) => ({
        ...{ key: `a_${type}`, label: type, type },
      })),
    });
    this.ids.set('/declared-type', this.id('/v1/crm/activity-types'));
    await this.keep('/v1/crm/activity-types');
    for (const path of ['/v1/crm/lists', '/v1/crm/notes', '/v1/crm/activities', RECORDS, '/v1/loyalty/rules'])
      await this.keep(path);
  }

  private async fillIdentity(): Promise<void> {
    const roles = await done<{ data: { id: string; key: string | null }[] }>(
      this.admin.get('/v1/identity/roles?built_in=true&kind=machine'),
    );
    this.ids.set('/machine-role', roles.data[0]?.id ?? '');
    const of = [
      'users',
      'roles',
      'oauth-clients',
      'sso-connections',
      'organizations',
      'api-keys',
      'invitations',
    ];
    for (const each of of) await this.keep(`/v1/identity/${each}`);
    await this.keep('/v1/identity/memberships');
  }

  private async fillMessaging(): Promise<void> {
    const smtp = new URL(this.platform.envOf('messaging')['SMTP_URL'] ?? '');
    const email = {
      ...{ provider: 'smtp', from: 'Shop <shop@shop.example>', security: 'none' },
      ...{ host: smtp.hostname, port: Number(smtp.port) },
    };
    const settings = {
      channels: { email, in_app: { enabled: true } },
      topics: [{ key: 'news', name: 'News', channels: ['email'], default: true }],
    };
    await done(this.admin.call('PUT', '/v1/messaging/channel-settings', { body: settings }));
    const of = [
      'templates',
      'campaigns',
      'event-routing',
      'sender-domains',
      'webhook-endpoints',
      'suppressions',
    ];
    for (const each of of) await this.keep(`/v1/messaging/${each}`);
    this.ids.set('/v1/messaging/sends', await this.firstOf('/v1/messaging/sends'));
  }

  private async keep(path: string, body = this.bodyOf({ method: 'POST', path }) ?? {}): Promise<void> {
    this.ids.set(path, (await this.make(path.replace('{slug}', SLUG), body)).id);
  }

  private make(path: string, body: object): Promise<{ id: string }> {
    return eventually(() => done<{ id: string }>(this.admin.post(path, body)), { within: 10_000 });
  }

  private firstOf(path: string): Promise<string> {
    return eventually(
      async () => {
        const { data } = await done<{ data: { id: string }[] }>(this.admin.get(path));
        if (!data[0]) throw new Error(`${path} is empty`);
        return data[0].id;
      },
      { within: 60_000 },
    );
  }
}
