import type { RunningApp } from '../index.js';
import { Problem } from '@customer-platform/problem-json';
import { call, startThings } from '../../test/things.fixture.js';
import { recording, refusals } from '../../test/things.module.js';

let app: RunningApp;
beforeAll(async () => {
  app = await startThings();
});
afterAll(() => app.close());

const things = '/v1/crm/things';
const id = '01890000-0000-7000-8000-000000000001';
const to = (path: string, init?: Parameters<typeof call>[2]) => call(app.url, path, init);

describe('the order of checks', () => {
  const nonsense = { method: 'PATCH', body: '{"name":' };

  it('401 with a challenge before anything is said of permission, body or row', async () => {
    const none = await to(`${things}/not-a-uuid?wrong=1`, { ...nonsense, token: null });
    expect(none.body).toMatchObject({ status: 401, code: 'missing_credentials' });
    expect(none.headers.get('www-authenticate')).toBe('Bearer realm="customer-platform"');
    const unknown = await to(`${things}/not-a-uuid`, { ...nonsense, token: 'nobody' });
    expect(unknown.body).toMatchObject({ status: 401, code: 'invalid_token' });
    expect(unknown.headers.get('www-authenticate')).toContain('error="invalid_token"');
    const expired = await to(things, { token: 'expired' });
    expect(expired.body.code).toBe('token_expired');
  });

  it('403 names the missing permission before the body is read', async () => {
    const answer = await to(`${things}/not-a-uuid?wrong=1`, { ...nonsense, token: 'but:crm.notes.update' });
    expect(answer.body).toMatchObject({
      status: 403,
      code: 'permission_denied',
      permission: 'crm.notes.update',
    });
    expect(answer.body.detail).toContain('crm.notes.update');
  });

  it('a refusal is recorded where the route asks for it, before it is answered', async () => {
    refusals.length = 0;
    const denied = { token: 'but:core.contacts.read_national_id' };
    expect((await to(`${things}/${id.toUpperCase()}/secret`, denied)).body.code).toBe('permission_denied');
    expect((await to(`${things}/no-id/secret`, denied)).body.code).toBe('permission_denied');
    expect((await to(`${things}/${id}`, { token: 'but:crm.notes.read' })).status).toBe(403);
    expect((await to(`${things}/${id}/secret`)).status).toBe(200);
    const permission = 'core.contacts.read_national_id';
    expect(refusals.map(({ call: refused }) => refused)).toEqual([{ permission, id }, { permission }]);
    recording.fails = new Problem('dependency_unavailable');
    expect((await to(`${things}/${id}/secret`, denied)).status).toBe(503);
    delete recording.fails;
  });

  it('400 only to those who may', async () => {
    const answer = await to(`${things}/${id}`, { ...nonsense, token: 'only:crm.notes.update' });
    expect(answer.body).toMatchObject({ status: 400, code: 'malformed_json' });
  });

  it('403 organization_suspended, and mfa_required except for one’s own factors', async () => {
    expect((await to(things, { token: 'suspended' })).body.code).toBe('organization_suspended');
    expect((await to(things, { token: 'no-mfa' })).body.code).toBe('mfa_required');
    expect((await to(`${things}/mfa`, { token: 'no-mfa' })).status).toBe(200);
  });

  it('503 while the registry cannot be asked', async () => {
    const answer = await to(things, { token: 'away' });
    expect(answer.body).toMatchObject({ status: 503, code: 'authorization_unavailable' });
    expect(answer.headers.get('retry-after')).toBe('1');
  });
});

describe('the context', () => {
  it('carries principal, rights and the address that the gateway saw', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' };
    const { body } = await to(`${things}/mfa`, { headers });
    expect(body).toEqual({ principal: { type: 'api_key', id: 'key' }, can: true, ip: '198.51.100.7' });
  });

  it('of a member route has a member as principal', async () => {
    expect((await to(`${things}/me`)).body).toEqual({ type: 'member', id: 'contact' });
    expect((await to(`${things}/me`, { token: null })).status).toBe(401);
  });

  it('of a tenant token is there if the token was in the header, and its refusals are', async () => {
    const post = { method: 'POST', body: {} };
    const inHeader = await to(`${things}/forms`, post);
    expect(inHeader.body).toEqual({ body: {}, principal: { type: 'api_key', id: 'key' } });
    expect((await to(`${things}/forms`, { ...post, token: null })).body).toEqual({ body: {} });
    expect((await to(`${things}/forms`, { ...post, token: 'expired' })).body.code).toBe('token_expired');
    const suspended = await to(`${things}/forms`, { ...post, token: 'suspended' });
    expect(suspended.body.code).toBe('organization_suspended');
  });
});

describe('the correlation id', () => {
  const mine = '7B9F0C1E-7f0a-4d4e-8a53-000000000001';

  it('is the sender’s if it is a UUID, in every answer and problem', async () => {
    const good = await to(things, { headers: { 'x-correlation-id': mine } });
    expect(good.headers.get('x-correlation-id')).toBe(mine.toLowerCase());
    const bad = await to(`${things}/nowhere/at/all`, { headers: { 'x-correlation-id': mine } });
    expect(bad.body.correlation_id).toBe(mine.toLowerCase());
    expect(bad.headers.get('x-correlation-id')).toBe(mine.toLowerCase());
  });

  it('is a new UUID otherwise', async () => {
    const answer = await to(things, { token: null, headers: { 'x-correlation-id': 'order 66' } });
    expect(answer.body.correlation_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
    expect(answer.headers.get('x-correlation-id')).toBe(answer.body.correlation_id);
  });
});

describe('routes', () => {
  it('create: 201 with Location; read: ETag; delete: 204 without a body', async () => {
    const made = await to(things, { method: 'POST', body: { name: 'a' } });
    expect([made.status, made.headers.get('location'), made.body.name]).toEqual([201, `${things}/1`, 'a']);
    const read = await to(`${things}/${id.toUpperCase()}`);
    expect([read.status, read.headers.get('etag'), read.body]).toEqual([200, '"1"', { id }]);
    const gone = await to(`${things}/${id}`, { method: 'DELETE' });
    expect([gone.status, gone.body, gone.headers.get('content-length')]).toEqual([204, undefined, null]);
  });

  it('HEAD answers as GET does, without a body', async () => {
    const head = await to(`${things}/${id}`, { method: 'HEAD' });
    expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, undefined, '"1"']);
    expect(head.headers.get('content-length')).toBe(String(JSON.stringify({ id }).length));
    const refused = await to(things, { method: 'HEAD', token: null });
    expect([refused.status, refused.body]).toEqual([401, undefined]);
  });

  it('redirect keeps the method', async () => {
    const moved = await to(`${things}/moved`);
    expect([moved.status, moved.headers.get('location')]).toEqual([307, `${things}/2`]);
  });

  it('If-Match: the present tag or * passes, another or a weak one is 412', async () => {
    const patch = (tag: string) =>
      to(`${things}/${id}`, { method: 'PATCH', body: { name: 'b' }, headers: { 'if-match': tag } });
    expect((await patch('"1"')).status).toBe(200);
    expect((await patch('"0", "1"')).status).toBe(200);
    expect((await patch('*')).status).toBe(200);
    for (const tag of ['"2"', 'W/"1"', '1']) {
      expect((await patch(tag)).body).toMatchObject({ status: 412, code: 'etag_mismatch' });
    }
  });

  it('409 carries the members of its code', async () => {
    const purge = await to(`${things}/${id}/purge`, { method: 'DELETE' });
    expect(purge.body).toMatchObject({
      code: 'resource_referenced',
      references: [{ module: 'crm', resource: 'notes', count: 2 }],
    });
  });

  it('an id that is no UUID is invalid_id, a broken escape malformed_request', async () => {
    expect((await to(`${things}/17`)).body).toMatchObject({
      code: 'invalid_id',
      errors: [{ parameter: 'id', code: 'invalid_id' }],
    });
    expect((await to(`${things}/%E0%A4%A`)).body).toMatchObject({ status: 400, code: 'malformed_request' });
  });

  it('answers are not stored by anyone', async () => {
    expect((await to(things)).headers.get('cache-control')).toBe('no-store');
    expect((await to(things, { token: null })).headers.get('cache-control')).toBe('no-store');
  });
});

describe('404 and 405', () => {
  it.each([
    '/v1/crm/thing',
    `${things}/`,
    '/V1/crm/things',
    `${things}/${id}/restore/x`,
    '/',
    '//v1/crm/things',
    '/v1//crm/things',
  ])('GET %s is route_not_found', async (path) => {
    const answer = await to(path);
    expect(answer.body).toMatchObject({
      status: 404,
      code: 'route_not_found',
      type: '/problems/route_not_found',
    });
  });

  it('another method is 405 with Allow', async () => {
    const answer = await to(`${things}/${id}/restore`, { method: 'PUT', body: {} });
    expect(answer.body).toMatchObject({ status: 405, code: 'method_not_allowed' });
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
    expect((await to(things, { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });

  it('a path beside an item is no item, whatever the method', async () => {
    const patch = await to(`${things}/report`, { method: 'PATCH', body: {} });
    expect(patch.body).toMatchObject({ status: 405, code: 'method_not_allowed' });
    expect(patch.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect((await to(`${things}/report`, { method: 'DELETE' })).status).toBe(405);
    expect((await to(`${things}/report`)).status).toBe(200);
    expect((await to(`${things}/report`, { method: 'HEAD' })).status).toBe(200);
    const options = await to(`${things}/sends`, { method: 'OPTIONS', token: null });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'POST, OPTIONS']);
    expect((await to(`${things}/sends`)).status).toBe(405);
    // Another name in its place is an item's, and refused as that.
    expect((await to(`${things}/reports`, { method: 'DELETE' })).body.code).toBe('invalid_id');
    // On the other listener there is no such path.
    expect((await call(app.internalUrl, `${things}/report`, { method: 'DELETE' })).status).toBe(404);
  });

  it('OPTIONS tells the methods of a path', async () => {
    const answer = await to(`${things}/${id}`, { method: 'OPTIONS', token: null });
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'DELETE, GET, HEAD, PATCH, OPTIONS']);
    expect((await to('/nowhere', { method: 'OPTIONS' })).status).toBe(404);
  });
});

describe('the two listeners', () => {
  const body = { method: 'POST', body: { a: 1 } };

  it('serve /internal on the internal one only, however it is written', async () => {
    expect((await call(app.internalUrl, '/internal/things', body)).body).toEqual({ body: { a: 1 } });
    for (const path of ['/internal/things', '/INTERNAL/things', '/%69nternal/things', '/internal//things']) {
      expect((await to(path, body)).body).toMatchObject({ status: 404, code: 'route_not_found' });
    }
    expect((await to('/internal/things', { method: 'OPTIONS' })).status).toBe(404);
    expect((await to('/internal/things')).status).toBe(404);
  });

  it('serve nothing but /internal on the internal one', async () => {
    for (const path of [things, `${things}/${id}`, '/health/live', '/metrics', '/openapi.json']) {
      expect((await call(app.internalUrl, path)).body).toMatchObject({ code: 'route_not_found' });
    }
    expect((await call(app.internalUrl, '/internal/things')).body.code).toBe('method_not_allowed');
  });
});

describe('what a handler throws', () => {
  it('unforeseen is internal_error without a word of it', async () => {
    const { body } = await to(`${things}/broken`);
    expect(body).toMatchObject({ status: 500, code: 'internal_error', title: 'Internal error' });
    expect(JSON.stringify(body)).not.toMatch(/duplicate|constraint|srv|\.js/);
  });
});

describe('the query', () => {
  it('of a route without parameters takes none', async () => {
    const answer = await to(`${things}/${id}?expand=all`);
    expect(answer.body).toMatchObject({ code: 'unknown_parameter', errors: [{ parameter: 'expand' }] });
    expect(answer.body.detail).toContain('takes none');
    expect((await to(`${things}/${id}?`)).status).toBe(200);
  });

  it('of a DTO takes its fields, by their rules', async () => {
    expect((await to(`${things}/report?granularity=day`)).body).toEqual({ granularity: 'day' });
    const wrong = await to(`${things}/report?granularity=week`);
    expect(wrong.body).toMatchObject({ errors: [{ parameter: 'granularity', code: 'invalid_enum' }] });
    const unknown = await to(`${things}/report?grain=day`);
    expect(unknown.body).toMatchObject({ code: 'unknown_parameter', errors: [{ parameter: 'grain' }] });
    expect(unknown.body.detail).toContain('granularity');
    const twice = await to(`${things}/report?granularity=day&granularity=month`);
    expect(twice.body).toMatchObject({ errors: [{ parameter: 'granularity' }] });
  });

  it('of a DTO holds no U+0000', async () => {
    const { body } = await to(`${things}/report?granularity=day%00`);
    expect(body).toMatchObject({
      code: 'validation_failed',
      errors: [{ parameter: 'granularity', code: 'invalid_format', detail: '`granularity` holds U+0000.' }],
    });
  });

  it('of a list comes as its definition says', async () => {
    const { body } = await to(
      `${things}?name[in]=a%252Cb,c&size%5Bgt%5D=3&sort=name&include_deleted=true&limit=500`,
    );
    expect(body.page.limit).toBe(200);
    expect(body.data[0]).toMatchObject({ visibility: 'any', limit: 200 });
    expect(body.data[0].filters).toMatchObject([{ values: ['a,b', 'c'] }, { op: 'gt', values: [3] }]);
    const next = await to(`${things}?cursor=${body.page.next_cursor}`);
    expect(next.body.code).toBe('cursor_mismatch');
  });

  it('with a broken escape is malformed_request', async () => {
    expect((await to(`${things}?name=%ff`)).body).toMatchObject({ status: 400, code: 'malformed_request' });
  });

  it('a cursor of another organization is invalid_cursor', async () => {
    const { body } = await to(things);
    const path = `${things}?cursor=${body.page.next_cursor}`;
    expect((await to(path)).status).toBe(200);
    expect((await to(path, { token: 'other' })).body.code).toBe('invalid_cursor');
  });
});

describe('a route with its own Idempotency-Key', () => {
  const send = (key?: string) =>
    to(`${things}/sends`, {
      method: 'POST',
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    });

  it.each([
    ['order-7', 'order-7'],
    ['"order 7"', 'order 7'],
    ['"a\\"b\\\\"', 'a"b\\'],
    ['k'.repeat(255), 'k'.repeat(255)],
  ])('reads %s', async (header, key) => {
    expect((await send(header)).body).toEqual({ key });
  });

  it('requires it', async () => {
    expect((await send()).body).toMatchObject({
      status: 400,
      code: 'idempotency_key_required',
      errors: [{ parameter: 'Idempotency-Key' }],
    });
  });

  it.each([
    ['""', 'too_short'],
    ['k'.repeat(256), 'too_long'],
    ['"open', 'invalid_format'],
    ['"a"b"', 'invalid_format'],
    ['ü', 'invalid_format'],
  ])('refuses %s as %s', async (header, code) => {
    expect((await send(header)).body).toMatchObject({ code: 'validation_failed', errors: [{ code }] });
  });
});
