import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { CREDENTIAL_NAMES } from '@customer-platform/http';
import { isPermission, PERMISSIONS, type Permission } from '@customer-platform/permissions';
import {
  eventually,
  type Answer,
  type Caller,
  END_WITHIN_MS,
  PlatformUnderTest,
  START_WITHIN_MS,
  type Tenant,
} from '@customer-platform/testing';
import { prepareChain, sendPurchase } from './chain.fixture.js';
import {
  closedTo,
  demanding,
  obtainLink,
  obtainReportPath,
  signatureOf,
  TOKENS,
  withToken,
  type AllCredentials,
} from './credential-classes.fixture.js';
import { obtainCredentials, PASSWORD } from './credentials.fixture.js';
import { obtainExpired } from './expired-credentials.fixture.js';
import { fillIdentity } from './identity-rows.fixture.js';
import { importContacts } from './imports.fixture.js';
import { obtainRefused, refusalOf } from './refused-credentials.fixture.js';
import { makeRecord, pathOf, RECORDS, SLUG } from './route-paths.fixture.js';
import {
  collectionOf,
  documentedRoutes,
  hasBody,
  READ_BESIDE,
  type DocumentedRoute,
} from './documented-routes.fixture.js';

interface Page {
  data: { id: string }[];
}
interface Refusal {
  code: string;
  permission?: string;
}

/** What has no list of its own, and where it is shown. */
const IMPERSONATIONS = '/v1/identity/impersonations';
const LISTS = new Map([
  [IMPERSONATIONS, '/v1/identity/sessions'],
  [RECORDS, `/v1/crm/objects/${SLUG}`],
]);
const routes = documentedRoutes();
const guarded = routes.flatMap((route) => {
  const { permission = '' } = route;
  return isPermission(permission) ? [{ ...route, permission }] : [];
});
const ofMachines = guarded.filter(({ usersOnly }) => !usersOnly);
const ofUsers = guarded.filter(({ usersOnly }) => usersOnly);
const ofMembers = routes.filter(({ authorization }) => authorization === 'member_token');
const items = ofMachines.filter(({ path }) => path.includes('{id}'));
const collections = ofMachines.filter(({ method, path }) => method === 'GET' && !path.includes('{'));

jest.setTimeout(60_000);

let platform: PlatformUnderTest;
let mine: Tenant;
let other: Tenant;
/** The tenant of the keys of one permission: an organization has at most 200. */
let third: Tenant;
/** Of `mine`, with a token of their own. */
let member: Caller;
let credentials: AllCredentials;
let refusedKinds: Awaited<ReturnType<typeof obtainRefused>>;
let expired: Awaited<ReturnType<typeof obtainExpired>>;
/** Of `mine`, by the collection that the ids belong to. */
const ids = new Map<string, string>();
const keys = new Map<string, Promise<Caller>>();

beforeAll(async () => {
  platform = await PlatformUnderTest.start();
  [mine, other, third] = [await platform.tenant(), await platform.tenant(), await platform.tenant()];
  await prepareChain(mine);
  await fill();
  credentials = {
    ...(await obtainCredentials(platform, mine)),
    linkToken: await obtainLink(platform, mine),
    reportPath: await obtainReportPath(other),
  };
  expired = await obtainExpired(platform, other);
  refusedKinds = await obtainRefused(platform, third, credentials);
}, START_WITHIN_MS);
afterAll(() => platform.stop(), END_WITHIN_MS);

/** Leaves something of `mine` behind every route that shows or changes an item. */
async function fill(): Promise<void> {
  const { externalId, body } = await sendPurchase(mine.ingestion);
  // The same key with another body: a dead letter.
  await mine.ingestion.post('/v1/core/track', { ...body, properties: { amount: 1, currency: 'CLP' } });
  const hook = { name: 'All of it', url: 'http://127.0.0.1:9/', events: ['messaging.*'], enabled: false };
  const told = `/v1/messaging/webhook-endpoints/${await made('/v1/messaging/webhook-endpoints', hook)}/deliveries`;
  await mine.admin.post('/v1/messaging/suppressions', { channel: 'email', address: 'nobody@example.com' });
  LISTS.set('/v1/messaging/webhook-deliveries', told);
  ids.set('/v1/messaging/webhook-deliveries', await firstOf(told));
  await made('/v1/messaging/sender-domains', { domain: 'shop.example' });
  const contact = await eventually(async () => {
    const path = `/v1/core/events?event=${body.event}&external_id=${externalId}`;
    const events = await mine.admin.get<{ data: { contact_id: string }[] }>(path);
    expect(events.body.data).toHaveLength(1);
    return events.body.data[0]?.contact_id ?? '';
  });
  member = await memberOf(externalId);
  await made('/v1/crm/notes', { contact_id: contact, body: 'Prefers to be called after 18:00.' });
  const type = await made('/v1/crm/activity-types', { key: 'call_back', name: 'Call back' });
  await made('/v1/crm/activities', { contact_id: contact, type_id: type, subject: 'Call back' });
  const list = await made('/v1/crm/lists', { name: 'To call' });
  await made('/v1/messaging/campaigns', {
    name: 'To all of them',
    channel: 'email',
    template_id: await firstOf('/v1/messaging/templates'),
    audience: { type: 'list', id: list },
  });
  ids.set(RECORDS, await makeRecord(made));
  const rule = { attribute: 'email', op: 'exists', value: true };
  await made('/v1/core/segments', { name: 'With an address', rule });
  await made('/v1/core/attribute-definitions', { key: 'plan', type: 'string' });
  await importContacts(mine.admin);
  const erasure = { type: 'erasure', contact_id: contact };
  expect((await mine.admin.post('/v1/core/subject-requests', erasure)).status).toBe(202);
  ids.set(IMPERSONATIONS, await fillIdentity(platform, mine, made));
  for (const collection of new Set(items.map(collectionOf))) {
    if (collection.endsWith('/contacts')) ids.set(collection, contact);
    else if (!ids.has(collection)) ids.set(collection, await firstOf(collection));
  }
}

/** Somebody of `mine`, by a token exchanged for the external id. */
function memberOf(externalId: string): Promise<Caller> {
  return eventually(async () => {
    const answer = await mine.admin.post<{ access_token: string }>('/v1/core/members/token-exchange', {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: externalId,
      subject_token_type: 'urn:customer-platform:token-type:external-id',
    });
    expect(answer.status).toBe(200);
    return platform.as(answer.body.access_token);
  });
}

/** A new item's id. A busy machine may answer 503 at first. */
function made(path: string, body: object): Promise<string> {
  return eventually(async () => {
    const answer = await mine.admin.post<{ id: string }>(path, body);
    expect(answer.status).toBe(201);
    return answer.body.id;
  });
}

function firstOf(collection: string): Promise<string> {
  return eventually(async () => {
    const { body } = await mine.admin.get<Page>(collection);
    expect([collection, body.data?.length]).not.toEqual([collection, 0]);
    return body.data[0]?.id ?? '';
  });
}

function call<T>(
  caller: Caller,
  route: DocumentedRoute,
  id: string = randomUUID(),
  further: Record<string, string> = {},
): Promise<Answer<T>> {
  const { method } = route;
  const path = pathOf(route, id);
  const body = route.body ?? {};
  const headers = { 'idempotency-key': randomUUID(), ...further };
  return caller.call<T>(method, path, hasBody(route) ? { body, headers } : { headers: further });
}

/** A busy machine may keep one module from hearing of another in time, and then the answer is 503. */
function answered<T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
  return eventually(async () => {
    const answer = await ask();
    expect(answer.status).not.toBe(503);
    return answer;
  });
}

/** A key of `mine` with all permissions but one, or of another organization with that one only. */
function keyFor(kind: 'all but' | 'only', permission: Permission): Promise<Caller> {
  const name = `${kind} ${permission}`;
  const [tenant, held] =
    kind === 'only' ? [third, [permission]] : [mine, PERMISSIONS.filter((one) => one !== permission)];
  const made = keys.get(name) ?? platform.keyWith(tenant, held).then(({ key }) => platform.as(key));
  keys.set(name, made);
  return made;
}

it('are all that the document has but those with another authorization, and each of an item has one of mine', () => {
  const others = routes.filter(({ authorization }) => authorization !== undefined);
  expect(guarded.length).toBe(routes.length - others.length);
  expect(items.length).toBeGreaterThan(20);
  for (const route of items) expect([route.path, ids.get(collectionOf(route))]).not.toContain(undefined);
});

describe.each([...guarded, ...ofMembers])('$method $path', (route) => {
  it('401 without a credential, with a malformed one, one nobody has, and an expired one of each class', async () => {
    const keysOf = [undefined, 'nonsense', `cpk_live_${'0'.repeat(38)}`];
    const past = route.takes.map((scheme) => expired[scheme] ?? `no expired ${scheme}`);
    const codes = await Promise.all(
      [...keysOf, ...past].map(async (key) => {
        const { status, body, headers } = await answered(() => call<Refusal>(platform.as(key), route));
        return [status, body.code, headers.has('www-authenticate')];
      }),
    );
    expect(past).not.toEqual([]);
    expect(codes).toEqual([
      [401, 'missing_credentials', true],
      [401, 'invalid_token', true],
      [401, 'invalid_token', true],
      ...past.map(() => [401, 'token_expired', true]),
    ]);
  });
});

describe.each(ofMembers)('$method $path', (route) => {
  it('serves a member', async () => {
    const { status } = await answered(() => call(member, route));
    expect([401, 403, 404, 500, 502, 504]).not.toContain(status);
  });
});

/** All routes, a few at a time; each with what came of it, if that is not what is told. */
async function refused(
  which: readonly DocumentedRoute[],
  ask: (route: DocumentedRoute) => Promise<Answer<undefined>>,
): Promise<string[]> {
  const others: string[] = [];
  for (let at = 0; at < which.length; at += 8) {
    const batch = which.slice(at, at + 8);
    const answers = await Promise.all(batch.map(ask));
    for (const [index, { status, headers }] of answers.entries()) {
      const { method, path } = batch[index] ?? {};
      if (status === 401 && headers.has('www-authenticate')) continue;
      others.push(`${method ?? ''} ${path ?? ''}: ${String(status)}`);
    }
  }
  return others;
}

describe.each(Object.entries(TOKENS))('a credential of the class %s', (scheme, name) => {
  const closed = closedTo(scheme, routes);

  it(`is 401 on all ${String(closed.length)} routes of other classes`, async () => {
    const token = credentials[name];
    const present = (route: DocumentedRoute) =>
      answered(() => call<undefined>(platform.as(token), withToken(route, token)));
    expect(closed.length).toBeGreaterThan(0);
    expect(await refused(closed, present)).toEqual([]);
  });
});

it('each credential is good on a route of its own class', async () => {
  const statusOf = async (key: string, path: string) => (await platform.as(key).get(path)).status;
  expect(await statusOf(credentials.apiKey, '/v1/identity/roles')).toBe(200);
  expect(await statusOf(credentials.userToken, '/v1/identity/mfa')).toBe(200);
  expect(await statusOf(credentials.memberToken, '/v1/core/members/me')).toBe(200);
  const exchanged = await platform.as().post('/v1/core/members/token-exchange', {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: credentials.tenantToken,
  });
  expect(exchanged.status).toBe(200);
  const accepted = await platform.as().post('/v1/identity/invitations/accept', {
    token: credentials.invitationToken,
    name: 'Ana Rojas',
    password: PASSWORD,
  });
  expect(accepted.status).toBe(200);
  const reset = { token: credentials.resetToken, password: 'cuatro cuervos cantan cada calle' };
  expect((await platform.as().post('/v1/identity/password-resets/confirm', reset)).status).toBe(200);
  const unsubscribe = `/v1/messaging/unsubscribe?token=${credentials.linkToken}`;
  expect((await platform.as().post(unsubscribe, {})).status).toBe(200);
});

it('what is verified beside a bearer token is refused past its time on its own route', async () => {
  const codeOf = async (path: string, body: object, headers = {}, key?: string) => {
    const answer = await platform.as(key).post<Refusal>(path, body, headers);
    return [answer.status, answer.body.code];
  };
  for (const { authorization = '', path } of routes) {
    if (!['invitation_token', 'reset_token'].includes(authorization)) continue;
    const body = { token: expired[authorization], name: 'Ana Rojas', password: PASSWORD };
    expect([path, ...(await codeOf(path, body))]).toEqual([path, 401, 'token_expired']);
  }
  const exchange = '/v1/core/members/token-exchange';
  const grant_type = 'urn:ietf:params:oauth:grant-type:token-exchange';
  const subject_token_type = 'urn:ietf:params:oauth:token-type:jwt';
  const body = { grant_type, subject_token_type, subject_token: expired.tenant_token };
  expect(await codeOf(exchange, body)).toEqual([400, 'invalid_subject_token']);
  expect(await codeOf(exchange, body, {}, expired.api_key)).toEqual([401, 'token_expired']);
  const stale = signatureOf('{}', 3_600);
  expect(await codeOf(credentials.reportPath, {}, stale)).toEqual([401, 'stale_signature']);
});

describe('the signature of a provider', () => {
  // The others miss a token in the body or the query then, and are 400 before anybody is asked for.
  const bearing = demanding(routes).filter(({ takes }) => takes.length > 0);

  it(`is 401 on all ${String(bearing.length)} routes of bearer tokens, and good on its own`, async () => {
    const text = (route: DocumentedRoute) => (hasBody(route) ? JSON.stringify(route.body ?? {}) : '');
    const signed = (route: DocumentedRoute) =>
      answered(() => call<undefined>(platform.as(), route, undefined, signatureOf(text(route))));
    expect(await refused(bearing, signed)).toEqual([]);
    const own = routes.find((each) => each.authorization === 'provider_hmac' && each.method === 'POST');
    const route = { method: 'POST', takes: [], usersOnly: false, ...own, path: credentials.reportPath };
    expect((await signed(route)).status).toBe(200);
  });
});

describe.each(CREDENTIAL_NAMES)('a credential of the kind %s', (kind) => {
  it('is refused in the same words, whatever is wrong with it', async () => {
    const answers = refusedKinds[kind].wrong.map((presented) => refusalOf(presented));
    const [first, ...others] = await Promise.all(answers);
    expect([first?.status, first?.headers['www-authenticate']]).toEqual([401, expect.anything()]);
    expect(others).toEqual(others.map(() => first));
  });
});

describe.each(ofUsers)('$method $path', (route) => {
  it('403 user_required to a key, whatever it may do', async () => {
    const { status, body } = await call<Refusal>(mine.admin, route);
    expect([status, body.code]).toEqual([403, 'user_required']);
  });
});

describe.each(ofMachines)('$method $path', (route) => {
  const { permission } = route;

  it(`403 naming ${permission} to a key with all others`, async () => {
    const { status, body } = await call<Refusal>(await keyFor('all but', permission), route);
    expect([status, body.code, body.permission]).toEqual([403, 'permission_denied', permission]);
  });

  it(`is not 403 to a key with ${permission} only`, async () => {
    const { status, body } = await call<Refusal | undefined>(await keyFor('only', permission), route);
    // One may act, and yet not grant what one does not hold.
    if (body?.code === 'privilege_escalation') return;
    if (READ_BESIDE[route.path]?.includes(body?.permission ?? '')) return;
    expect([401, 403, 500, 502, 503, 504]).not.toContain(status);
  });
});

describe.each(items)('$method $path of another organization', (route) => {
  it('answers as for an id that nobody has, and changes nothing', async () => {
    const id = ids.get(collectionOf(route)) ?? '';
    const unknown = randomUUID();
    const [foreign, nobodys] = await Promise.all([
      answered(() => call<object>(other.admin, route, id)),
      answered(() => call<object>(other.admin, route, unknown)),
    ]);
    // A deletion of what is in no one's collection may be answered as done; a look never is.
    expect(foreign.status).toBe(nobodys.status);
    expect(foreign.status).toBe(404);
    expect(comparable(foreign.body, id)).toEqual(comparable(nobodys.body, unknown));
  });
});

describe.each(collections)('$method $path of another organization', (route) => {
  it('shows nothing of mine', async () => {
    const { status, body } = await call(other.admin, route);
    expect(status).toBe(200);
    const text = JSON.stringify(body);
    for (const id of ids.values()) expect(text).not.toContain(id);
  });
});

it('leave all that is mine as it was', async () => {
  for (const [collection, id] of ids) {
    if (collection.endsWith('/contacts')) continue;
    const { body } = await mine.admin.get<Page>(`${LISTS.get(collection) ?? collection}?limit=200`);
    expect(body.data.map((one) => one.id)).toContain(id);
  }
});

function comparable(problem: object, id: string): object {
  const { correlation_id: _each, ...rest } = problem as Record<string, unknown>;
  return JSON.parse(JSON.stringify(rest).replaceAll(id, 'ID')) as object;
}
