import { connect } from 'node:net';
import { promisify } from 'node:util';
import { gzip as deflate, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { newId } from '@customer-platform/database';
import type { Caller } from '@customer-platform/testing';
import { accepted, aTrack, anIdentify, startCore, type TestCore } from '../core.fixture.js';

interface ProblemBody {
  code: string;
  errors: { pointer?: string; parameter?: string; code: string; detail: string }[];
  scope?: string;
  correlation_id: string;
}

const hour = 3_600_000;
const fromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();

describe('ingestion', () => {
  let core: TestCore;
  let caller: Caller;
  beforeAll(async () => {
    core = await startCore();
    ({ caller } = core.anOrganization());
    await accepted(caller, aTrack());
  });
  afterAll(() => core.close());

  /** Sends bytes as they are. */
  const raw = (path: string, bytes: Uint8Array<ArrayBuffer> | string, headers?: Record<string, string>) =>
    core.app
      .as(newId(), ['core.events.write', 'core.contacts.write'])
      .call<ProblemBody>('POST', path, { bytes, headers });

  const refused = async (path: string, body: unknown) => {
    const answer = await caller.post<ProblemBody>(path, body);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.headers.get('x-correlation-id')).toBe(answer.body.correlation_id);
    return { status: answer.status, code: answer.body.code, errors: answer.body.errors };
  };

  describe.each([
    ['/v1/core/track', aTrack],
    ['/v1/core/identify', anIdentify],
  ])('POST %s', (path, valid) => {
    it('202 with the event id, the same for a retry, as correlation id', async () => {
      const body = valid();
      const first = await accepted(caller, body, path);
      const again = await caller.post(path, body, { 'x-correlation-id': newId() });
      expect(again).toMatchObject({ status: 202, body: first });
      expect(again.headers.get('x-correlation-id')).toBe(first.event_id);
      expect(again.headers.get('ratelimit-policy')).toBe('"key";q=2000;w=2, "organization";q=4000;w=2');
      expect(again.headers.get('ratelimit')).toMatch(/^"key";r=\d+;t=\d, "organization";r=\d+;t=\d$/);
    });

    it('takes a byte order mark before the JSON, as one event with the same without it', async () => {
      const body = valid();
      const marked = await caller.call('POST', path, { bytes: `\ufeff${JSON.stringify(body)}` });
      expect(marked.status).toBe(202);
      expect((await caller.post(path, body)).body).toEqual(marked.body);
    });

    it('401 missing_credentials, invalid_token', async () => {
      const anonymous = await core.app.with().post(path, valid());
      expect(anonymous).toMatchObject({ status: 401, body: { code: 'missing_credentials' } });
      expect(anonymous.headers.get('www-authenticate')).toContain('Bearer');
      expect(await core.app.with('cpk_live_nonsense').post(path, valid())).toMatchObject({
        status: 401,
        body: { code: 'invalid_token' },
      });
    });

    it('403 organization_suspended', async () => {
      const key = core.app.registry.key({
        organizationId: newId(),
        permissions: ['core.events.write', 'core.contacts.write'],
        restriction: 'organization_suspended',
      });
      expect(await core.app.with(key).post(path, valid())).toMatchObject({
        status: 403,
        body: { code: 'organization_suspended' },
      });
    });

    it('403 permission_denied with every permission but the one needed', async () => {
      const other = path.endsWith('track') ? 'core.contacts.write' : 'core.events.write';
      const answer = await core.app.as(newId(), [other, 'core.events.read']).post(path, valid());
      expect(answer).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
      const needed = path.endsWith('track') ? 'core.events.write' : 'core.contacts.write';
      expect(answer.body).toMatchObject({ detail: expect.stringContaining(needed) });
      expect((await core.app.as(newId(), [needed]).post(path, valid())).status).toBe(202);
    });

    it.each(['external_id', 'idempotency_key', 'occurred_at'])('400 without %s', async (field) => {
      expect(await refused(path, { ...valid(), [field]: undefined })).toMatchObject({
        status: 400,
        code: 'validation_failed',
        errors: [{ pointer: `/${field}`, code: 'required' }],
      });
    });

    it.each([
      ['external_id', '', 'too_short'],
      ['external_id', 'x'.repeat(201), 'too_long'],
      ['external_id', 7, 'wrong_type'],
      ['idempotency_key', '', 'too_short'],
      ['idempotency_key', 'x'.repeat(256), 'too_long'],
      ['occurred_at', '2026-01-15T12:00:00', 'invalid_format'],
      ['occurred_at', '2026-02-30T12:00:00Z', 'invalid_format'],
      ['occurred_at', '0001-01-01T00:00:00+10:00', 'invalid_format'],
      ['occurred_at', '0000-06-15T00:00:00Z', 'invalid_format'],
      ['occurred_at', 1768478400, 'wrong_type'],
      ['occured_at', '2026-01-15T12:00:00Z', 'unknown_field'],
    ])('400 with %s %p: %s', async (field, value, code) => {
      expect(await refused(path, { ...valid(), [field]: value })).toMatchObject({
        status: 400,
        code: 'validation_failed',
        errors: [{ pointer: `/${field}`, code, detail: expect.any(String) }],
      });
    });

    it('400 lists all that is wrong, and the allowed names', async () => {
      const { errors } = await refused(path, {
        ...valid(),
        external_id: 'null',
        occurred_at: 'now',
        nmae: 1,
      });
      expect(errors.map(({ pointer }) => pointer).sort()).toEqual(['/external_id', '/nmae', '/occurred_at']);
      expect(errors.find(({ code }) => code === 'unknown_field')?.detail).toContain('idempotency_key');
    });

    it.each(['null', ' "Anonymous" ', '0', '[object Object]', '(none)'])(
      '400 placeholder_identifier with the external id %p',
      async (externalId) => {
        expect(await refused(path, { ...valid(), external_id: externalId })).toMatchObject({
          status: 400,
          code: 'placeholder_identifier',
          errors: [{ pointer: '/external_id', code: 'placeholder_identifier' }],
        });
      },
    );

    it('400 occurred_at_in_future beyond one hour; any past is taken, with any offset', async () => {
      expect(await refused(path, { ...valid(), occurred_at: fromNow(hour + 60_000) })).toMatchObject({
        status: 400,
        code: 'occurred_at_in_future',
      });
      for (const occurred_at of [
        fromNow(hour - 60_000),
        '1969-07-20T17:17:40-03:00',
        '0001-01-01T00:00:00Z',
      ]) {
        await accepted(caller, { ...valid(), occurred_at }, path);
      }
    });

    it('400 out_of_range for a number that would be rounded', async () => {
      const text = JSON.stringify({
        ...valid(),
        [path.endsWith('track') ? 'properties' : 'traits']: { n: 0 },
      });
      const answer = await raw(path, text.replace('"n":0', '"n":12345678901234567890'));
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ code: 'out_of_range' }] } });
    });

    it('400 for U+0000, lone surrogates, forbidden names and deep nesting', async () => {
      const place = path.endsWith('track') ? 'properties' : 'traits';
      for (const [content, code] of [
        ['{"a":"\\u0000"}', 'invalid_format'],
        ['{"a":"\\ud800"}', 'invalid_format'],
        ['{"a":{"__proto__":{}}}', 'not_allowed'],
        [`{"a":${'['.repeat(32)}${']'.repeat(32)}}`, 'not_allowed'],
      ]) {
        const text = JSON.stringify({ ...valid(), [place]: 'HERE' }).replace('"HERE"', String(content));
        const answer = await raw(path, text);
        expect(answer).toMatchObject({
          status: 400,
          body: { code: 'validation_failed', errors: [{ code }] },
        });
        expect(answer.body.errors[0]?.pointer).toMatch(new RegExp(`^/${place}/a`));
      }
    });

    it.each([
      ['{', 'malformed_json'],
      ['', 'malformed_json'],
      [Buffer.from([0x22, 0xff, 0xfe, 0x22]), 'malformed_json'],
      ['[]', 'validation_failed'],
      ['null', 'validation_failed'],
      ['"x"', 'validation_failed'],
    ])('400 for the body %p', async (body, code) => {
      expect(await raw(path, body)).toMatchObject({ status: 400, body: { code } });
    });

    it('400 unknown_parameter, 405 and 415', async () => {
      expect(await refused(`${path}?dry_run=true`, valid())).toMatchObject({
        status: 400,
        code: 'unknown_parameter',
      });
      expect(await raw(path, '{}', { 'content-type': 'text/plain' })).toMatchObject({
        status: 415,
        body: { code: 'unsupported_media_type' },
      });
      expect(await raw(path, '{}', { 'content-type': 'application/json; charset=latin1' })).toMatchObject({
        status: 415,
      });
      expect(await raw(path, '{}', { 'content-encoding': 'br' })).toMatchObject({ status: 415 });
      const wrong = await caller.get(path);
      expect(wrong).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
      expect(wrong.headers.get('allow')).toContain('POST');
    });

    it('takes gzip and counts the limit after inflating', async () => {
      const gzip = { 'content-encoding': 'gzip' };
      expect((await raw(path, gzipSync(JSON.stringify(valid())), gzip)).status).toBe(202);
      // Not on this thread, which the service shares: it would know nothing of anybody's rights for as long.
      const bomb = await promisify(deflate)(Buffer.alloc(64 * 1024 * 1024, ' '));
      expect(await raw(path, bomb, gzip)).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
      expect(await raw(path, 'not gzip', gzip)).toMatchObject({
        status: 400,
        body: { code: 'malformed_request' },
      });
    });

    it('takes 32 KiB and refuses a byte more', async () => {
      const place = path.endsWith('track') ? 'properties' : 'traits';
      const sized = (bytes: number): string => {
        const empty = JSON.stringify({ ...valid(), [place]: { note: '' } });
        return empty.replace('"note":""', `"note":"${'x'.repeat(bytes - empty.length)}"`);
      };
      expect((await raw(path, sized(32 * 1024))).status).toBe(202);
      expect(await raw(path, sized(32 * 1024 + 1))).toMatchObject({
        status: 413,
        body: { code: 'body_too_large' },
      });
    });

    it('never answers 500, whatever is sent', async () => {
      const value = fc.oneof(
        fc.jsonValue({ stringUnit: 'binary' }),
        fc.record(
          {
            event: fc.string(),
            external_id: fc.string({ unit: 'binary' }),
            idempotency_key: fc.string({ unit: 'binary', minLength: 1 }),
            occurred_at: fc.oneof(fc.constant('2026-01-15T12:00:00Z'), fc.string()),
            properties: fc.jsonValue({ stringUnit: 'binary' }),
            traits: fc.dictionary(fc.string(), fc.jsonValue()),
            identities: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
      );
      const options = { numRuns: 60, ignoreEqualValues: true };
      await fc.assert(
        fc.asyncProperty(value, async (body) => {
          const { status } = await caller.post(path, body);
          expect([202, 400, 503]).toContain(status);
        }),
        options,
      );
    });
  });

  it('track takes an event without properties and refuses other types of them', async () => {
    await accepted(caller, aTrack({ properties: undefined }));
    for (const properties of [null, [], 'x', 1]) {
      expect(await refused('/v1/core/track', aTrack({ properties }))).toMatchObject({
        errors: [{ pointer: '/properties', code: 'wrong_type' }],
      });
    }
    for (const event of ['', 'x'.repeat(201), 7])
      expect((await refused('/v1/core/track', aTrack({ event }))).status).toBe(400);
  });

  it('identify needs traits, and refuses placeholders among its identities', async () => {
    expect(await refused('/v1/core/identify', anIdentify({ traits: undefined }))).toMatchObject({
      errors: [{ pointer: '/traits', code: 'required' }],
    });
    const identities = [
      { type: 'device_id', value: 'd-1' },
      { type: 'anonymous_id', value: 'undefined' },
    ];
    expect(await refused('/v1/core/identify', anIdentify({ identities }))).toMatchObject({
      code: 'placeholder_identifier',
      errors: [{ pointer: '/identities/1/value' }],
    });
    expect(
      await refused('/v1/core/identify', anIdentify({ identities: [{ type: 'shoe_size', value: '42' }] })),
    ).toMatchObject({
      errors: [{ pointer: '/identities/0/type', code: 'invalid_format' }],
    });
  });

  it('does not mind a caller that goes away while sending', async () => {
    const { hostname, port } = new URL(core.app.url);
    const socket = connect(Number(port), hostname);
    const key = core.app.registry.key({ organizationId: newId(), permissions: ['core.events.write'] });
    socket.write(
      `POST /v1/core/track HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"event"',
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await accepted(caller, aTrack());
  });

  it('counts what it refused after authentication', async () => {
    const { id, caller: own } = core.anOrganization();
    await own.post('/v1/core/track', {});
    await own.post('/v1/core/batch', { events: [aTrack(), {}, {}] });
    await own.post('/v1/core/batch', { events: [{}, {}] });
    await core.app.as(id, []).post('/v1/core/track', aTrack());
    await core.app.with().post('/v1/core/track', aTrack());
    const usage = await own.get<{ totals: { events: object } }>('/v1/core/usage');
    expect(usage.body.totals.events).toMatchObject({ accepted: 1, refused: 6 });
  });
});
