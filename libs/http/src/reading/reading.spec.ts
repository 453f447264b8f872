import { gzipSync } from 'node:zlib';
import { ArrayMaxSize, MaxLength } from 'class-validator';
import {
  custom,
  IsImmutable,
  IsWithoutRepeats,
  MayBeAbsent,
  validateBody,
  type RunningApp,
} from '../index.js';
import { call, problemOf, raw, startThings } from '../../test/things.fixture.js';

let app: RunningApp;
beforeAll(async () => {
  app = await startThings();
});
afterAll(() => app.close());

const things = '/v1/crm/things';
const post = (body: unknown, headers: Record<string, string> = {}) =>
  call(app.url, things, { method: 'POST', body, headers });

async function bytes(path: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string>) {
  const response = await fetch(app.url + path, { method: 'POST', body, headers });
  return { status: response.status, body: await response.json() };
}

describe('validation', () => {
  it.each([
    [{}, '/name', 'required'],
    [{ name: null }, '/name', 'wrong_type'],
    [{ name: 5 }, '/name', 'wrong_type'],
    [{ name: '' }, '/name', 'too_short'],
    [{ name: 'x'.repeat(21) }, '/name', 'too_long'],
    [{ name: 'x', size: '5' }, '/size', 'wrong_type'],
    [{ name: 'x', size: 1.5 }, '/size', 'wrong_type'],
    [{ name: 'x', size: 10 }, '/size', 'out_of_range'],
    [{ name: 'x', size: null }, '/size', 'wrong_type'],
    [{ name: 'x', color: 'green' }, '/color', 'invalid_enum'],
    [{ name: 'x', at: '2026-11-21T09:30:00' }, '/at', 'invalid_format'],
    [{ name: 'x', at: 17 }, '/at', 'invalid_format'],
    [{ name: 'x', parts: {} }, '/parts', 'wrong_type'],
    [{ name: 'x', parts: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] }, '/parts', 'too_long'],
    [{ name: 'x', parts: [{ name: 'a' }, {}] }, '/parts/1/name', 'required'],
    [{ name: 'x', parts: ['a'] }, '/parts/0', 'wrong_type'],
    [{ name: 'x', parts: [{ name: 'x'.repeat(11) }] }, '/parts/0/name', 'too_long'],
    [{ name: 'x', nmae: 'y' }, '/nmae', 'unknown_field'],
    [{ name: 'x', 'a/b': 'y' }, '/a~1b', 'unknown_field'],
    [{ name: 'x', parts: [{ name: 'a', size: 1 }] }, '/parts/0/size', 'unknown_field'],
    [{ name: 'x', toString: 1 }, '/toString', 'unknown_field'],
    [{ name: 'x', hasOwnProperty: 1 }, '/hasOwnProperty', 'unknown_field'],
    [{ name: 'x', parts: [{ name: 'a', valueOf: 1 }] }, '/parts/0/valueOf', 'unknown_field'],
  ])('%j: %s %s', async (body, pointer, code) => {
    const answer = await post(body);
    expect(answer.body).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(answer.body.errors).toEqual([{ pointer, code, detail: expect.stringMatching(/\.$/) }]);
  });

  it('reads a number beyond 2^53 by its text: what a double changes is refused, the rest is a number like another', async () => {
    const sized = async (size: string) => (await post(`{"name":"x","size":${size}}`)).body.errors as unknown;
    const refused = (detail: unknown) => [{ pointer: '/size', code: 'out_of_range', detail }];
    expect(await sized('9007199254740993')).toEqual(refused(expect.stringContaining('2^53')));
    expect(await sized('1e20')).toEqual(refused(expect.not.stringContaining('2^53')));
  });

  it('takes what fits, null where it clears', async () => {
    const thing = {
      name: 'x'.repeat(20),
      size: 9,
      color: null,
      at: '2026-11-21T09:30:00+02:00',
      parts: [{ name: '' }],
    };
    expect((await post(thing)).body).toMatchObject(thing);
  });

  it('refuses a field that is set once, whatever is given', async () => {
    class ChangeDto {
      @IsImmutable()
      key?: unknown;
    }
    await expect(validateBody(ChangeDto, {})).resolves.toEqual({});
    for (const key of ['a', null]) {
      await expect(validateBody(ChangeDto, { key })).rejects.toMatchObject({
        code: 'validation_failed',
        errors: [{ pointer: '/key', code: 'immutable', detail: '`key` cannot be changed.' }],
      });
    }
  });

  it('names an unknown field with the allowed ones', async () => {
    const { body } = await post({ name: 'x', colour: 'red' });
    expect(body.detail).toBe(
      'There is no field `colour` here. Allowed: name, size, color, at, external_id, parts.',
    );
  });

  it('tells all errors at once, one of each field', async () => {
    const { body } = await post({ size: 'x', color: 1, more: 1 });
    expect(body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([
      '/color',
      '/more',
      '/name',
      '/size',
    ]);
    expect(body.detail).toBe('4 values were refused; see `errors`.');
  });

  it('names 20 of many unknown fields and counts them all', async () => {
    const typos = Object.fromEntries(Array.from({ length: 14_539 }, (_, index) => [`typo_${index}`, 1]));
    const { body } = await post({ name: 'x', ...typos });
    expect(body.errors).toHaveLength(20);
    expect(body).toMatchObject({ code: 'validation_failed', errors_total: 14_539 });
    expect(JSON.stringify(body).length).toBeLessThan(10_000);
  });

  it('repeats no long name of an unknown field', async () => {
    const { body } = await post({ name: 'x', ['n'.repeat(900_000)]: 1 });
    expect(body).toMatchObject({ errors_total: 1, errors: [{ code: 'unknown_field' }] });
    expect(JSON.stringify(body).length).toBeLessThan(1_000);
  });

  it('reads nothing of a text or an array beyond its bound', async () => {
    const read: unknown[] = [];
    const Reads = () =>
      custom('reads', (value) => {
        read.push(value);
        return true;
      });
    class BoundedDto {
      @Reads()
      @MaxLength(3)
      text: string;

      @Reads()
      @ArrayMaxSize(2)
      list: string[];

      @MayBeAbsent()
      @Reads()
      @MaxLength(3, { each: true })
      texts?: string[];
    }
    const body = { text: 'four', list: ['a', 'b', 'c'], texts: ['four'] };
    await expect(validateBody(BoundedDto, body)).rejects.toMatchObject({
      errorsTotal: 3,
      errors: [
        { pointer: '/text', code: 'too_long', detail: '`text` has at most 3 characters.' },
        { pointer: '/list', code: 'too_long', detail: '`list` has at most 2 items.' },
        { pointer: '/texts', code: 'too_long', detail: 'Each item of `texts` has at most 3 characters.' },
      ],
    });
    expect(read.filter((value) => value !== undefined)).toEqual([]);
  });

  it('counts characters as people do, a pair of surrogates as one', async () => {
    class NamedDto {
      @MaxLength(3)
      name: string;
    }
    await expect(validateBody(NamedDto, { name: '\u{1f600}'.repeat(3) })).resolves.toBeDefined();
    for (const name of ['\u{1f600}'.repeat(4), 'a\ufe0f'.repeat(3)]) {
      await expect(validateBody(NamedDto, { name })).rejects.toMatchObject({
        errors: [{ pointer: '/name', code: 'too_long' }],
      });
    }
  });

  it('finds a repeated item, by what makes items the same', async () => {
    class SetDto {
      @IsWithoutRepeats((item) => String(item).toLowerCase())
      names: string[];
    }
    await expect(validateBody(SetDto, { names: ['a', 'b'] })).resolves.toBeDefined();
    await expect(validateBody(SetDto, { names: ['a', 'A'] })).rejects.toMatchObject({
      errors: [{ pointer: '/names', code: 'duplicate_item' }],
    });
  });

  it('answers the published code that all errors share', async () => {
    const alone = await post({ name: 'x', external_id: 'anonymous' });
    expect(alone.body).toMatchObject({
      code: 'placeholder_identifier',
      type: '/problems/placeholder_identifier',
    });
    const among = await post({ external_id: 'anonymous' });
    expect(among.body.code).toBe('validation_failed');
  });

  it.each([
    ['[]', 'wrong_type'],
    ['"x"', 'wrong_type'],
    ['null', 'wrong_type'],
    ['7', 'wrong_type'],
  ])('the body %s is %s', async (body, code) => {
    expect((await post(body)).body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '', code }],
    });
  });

  it('a missing body is required', async () => {
    const none = await call(app.url, things, { method: 'POST' });
    expect(none.body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '', code: 'required' }],
    });
  });
});

describe('JSON', () => {
  it.each(['{', '{"name":}', "{'name':1}", '{"name":"x"}}', 'NaN', ''])(
    '%j is malformed_json',
    async (body) => {
      if (body === '') return; // an empty body is a missing one, above
      const answer = await post(body);
      expect(answer.body).toMatchObject({ status: 400, code: 'malformed_json' });
      expect(answer.body.detail).not.toContain('"name"');
    },
  );

  it('refuses bytes that are not UTF-8', async () => {
    const headers = { authorization: 'Bearer all', 'content-type': 'application/json' };
    const answer = await bytes(things, new Uint8Array(Buffer.from('{"name":"\xff"}', 'latin1')), headers);
    expect(answer.body).toMatchObject({ code: 'malformed_json', detail: 'The body is not UTF-8.' });
  });

  it('takes a byte order mark', async () => {
    expect((await post('\ufeff{"name":"x"}')).status).toBe(201);
  });

  it.each([
    ['{"name":"x\\u0000"}', '/name', 'invalid_format'],
    ['{"name":"\\ud800"}', '/name', 'invalid_format'],
    ['{"__proto__":{"name":"x"}}', '/__proto__', 'not_allowed'],
    ['{"name":"x","parts":[{"constructor":1}]}', '/parts/0/constructor', 'not_allowed'],
    ['{"name":1e999}', '/name', 'out_of_range'],
  ])('%s: %s %s', async (body, pointer, code) => {
    expect((await post(body)).body.errors).toMatchObject([{ pointer, code }]);
  });

  it('a body of brackets alone breaks nothing', async () => {
    expect((await post('['.repeat(40_000))).body.code).toBe('malformed_json');
    const deep = '['.repeat(40_000) + ']'.repeat(40_000);
    expect((await post(deep)).body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: expect.stringMatching(/^\/0\/0/), code: 'not_allowed' }],
    });
  });

  it('a body of more than 10,000 values takes no number that would have to be read again', async () => {
    const large = (count: number): string => `{"name":"x","parts":[${'1e22,'.repeat(count)}1]}`;
    expect((await post(large(9_000))).body.errors).toMatchObject([{ pointer: '/parts', code: 'too_long' }]);
    expect((await post(large(10_000))).body.errors).toMatchObject([{ pointer: '', code: 'out_of_range' }]);
  });

  it('a body of more than 50,000 values is refused unread', async () => {
    expect((await post(`[${'0,'.repeat(49_998)}0]`)).body.errors).toMatchObject([{ code: 'wrong_type' }]);
    for (const body of [`[${'0,'.repeat(50_000)}0]`, '['.repeat(900_000)]) {
      expect((await post(body)).body).toMatchObject({
        code: 'validation_failed',
        errors: [{ pointer: '', code: 'too_long', detail: 'The body holds more than 50000 values.' }],
      });
    }
  });
});

describe('content types', () => {
  it.each([
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
    'application/merge-patch+json',
  ])('%s is taken', async (type) => {
    expect((await post('{"name":"x"}', { 'content-type': type })).status).toBe(201);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'json',
    ' ',
  ])('%s is unsupported_media_type', async (type) => {
    const answer = await post('{"name":"x"}', { 'content-type': type });
    expect(answer.body).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  });

  it('a form is taken where the route says so, repeated names as a list', async () => {
    const form = {
      method: 'POST',
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
    const answer = await call(app.url, `${things}/forms`, { ...form, body: 'a=1&b=x+y&b=%C3%A9' });
    expect(answer.body).toEqual({ body: { a: '1', b: ['x y', 'é'] } });
    const json = await call(app.url, `${things}/forms`, { method: 'POST', token: null, body: { a: 1 } });
    expect(json.body).toEqual({ body: { a: 1 } });
    const bad = await call(app.url, `${things}/forms`, { ...form, body: '__proto__=1' });
    expect(bad.body.code).toBe('validation_failed');
    const many = await call(app.url, `${things}/forms`, { ...form, body: 'a&'.repeat(1_000) });
    expect(many.body).toMatchObject({ errors: [{ pointer: '', code: 'too_long' }] });
    const nul = await call(app.url, `${things}/forms`, { ...form, body: 'a=%00' });
    expect(nul.body.errors).toMatchObject([{ pointer: '/a' }]);
  });
});

describe('size and encoding', () => {
  const json = { authorization: 'Bearer all', 'content-type': 'application/json' };
  const webhook = `${things}/webhooks/standard`;

  it('1 MiB is taken, one byte more is body_too_large, announced or not', async () => {
    const envelope = JSON.stringify({ name: '' }).length;
    const exact = await post({ name: 'x'.repeat(1024 * 1024 - envelope) });
    expect(exact.body.errors).toMatchObject([{ pointer: '/name', code: 'too_long' }]);
    const more = await post({ name: 'x'.repeat(1024 * 1024 - envelope + 1) });
    expect(more.body).toMatchObject({
      status: 413,
      code: 'body_too_large',
      detail: 'The body is larger than 1 MiB.',
    });
    const chunk = `${(700_000).toString(16)}\r\n${' '.repeat(700_000)}\r\n`;
    const head = `POST ${things} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nContent-Type: application/json\r\n`;
    const answer = await raw(
      app.url,
      `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`,
    );
    expect(problemOf(answer)).toMatchObject({ code: 'body_too_large' });
  });

  it('the same connection serves on after a body_too_large', async () => {
    const big = `POST ${things} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n${' '.repeat(2_000_000)}`;
    const answer = await raw(
      app.url,
      `${big}GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toContain('HTTP/1.1 413 ');
    expect(answer).toContain('{"status":"live"}');
  });

  it('a route takes its own limit, counted after inflating', async () => {
    const zipped = new Uint8Array(gzipSync(Buffer.alloc(1024)));
    expect((await bytes(webhook, zipped, { 'content-encoding': 'gzip' })).body).toEqual({
      provider: 'standard',
      bytes: 1024,
    });
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(50_000_000)));
    expect(bomb.length).toBeGreaterThan(1024);
    const small = new Uint8Array(gzipSync(Buffer.alloc(1025)));
    expect((await bytes(webhook, small, { 'content-encoding': 'gzip' })).body).toMatchObject({
      code: 'body_too_large',
    });
    const forms = `${things}/forms`;
    expect((await bytes(forms, bomb, { ...json, 'content-encoding': 'gzip' })).body).toMatchObject({
      code: 'body_too_large',
    });
  });

  it('raw bytes come as they are, none as none', async () => {
    expect((await bytes(webhook, new Uint8Array([0, 255, 10]), {})).body).toEqual({
      provider: 'standard',
      bytes: 3,
    });
    expect((await bytes(webhook, new Uint8Array(0), {})).body).toEqual({ provider: 'standard', bytes: 0 });
  });

  it('gzip is refused where it is not taken, and what is not gzip', async () => {
    const zipped = new Uint8Array(gzipSync('{"name":"x"}'));
    const refused = await bytes(things, zipped, { ...json, 'content-encoding': 'gzip' });
    expect(refused.body).toMatchObject({ status: 415, code: 'unsupported_media_type' });
    for (const encoding of ['br', 'deflate', 'gzip, gzip']) {
      const answer = await bytes(`${things}/forms`, zipped, { ...json, 'content-encoding': encoding });
      expect(answer.body).toMatchObject({ code: 'unsupported_media_type' });
    }
    const broken = await bytes(`${things}/forms`, new Uint8Array(Buffer.from('{}')), {
      ...json,
      'content-encoding': 'gzip',
    });
    expect(broken.body).toMatchObject({
      status: 400,
      code: 'malformed_request',
      detail: 'The body is not gzip.',
    });
    const cut = await bytes(`${things}/forms`, zipped.slice(0, 12), { ...json, 'content-encoding': 'gzip' });
    expect(cut.body).toMatchObject({ code: 'malformed_request' });
  });
});
