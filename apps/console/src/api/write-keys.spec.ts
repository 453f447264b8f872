import { createClient, type Client } from '@customer-platform/client';
import { withWriteKeys } from './write-keys.ts';

const NOTE = { contact_id: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f', body: 'Called back' };
const HOUR_MS = 3_600_000;

type Answering = () => Response | Promise<Response>;

const made: Answering = () => Response.json({ id: 'n-1' }, { status: 201 });
const lost: Answering = () => Promise.reject(new TypeError('The connection broke'));
const refused =
  (status: number, code: string): Answering =>
  () =>
    Response.json({ code, title: code }, { status });

let clock: number;
let keys: (string | null)[];
let answers: Answering[];
let api: Client;

beforeEach(() => {
  clock = 0;
  keys = [];
  answers = [];
  const client = createClient({
    baseUrl: 'http://platform.test',
    retry: { attempts: 1 },
    fetch: async (request) => {
      keys.push(request.headers.get('Idempotency-Key'));
      return (answers.shift() ?? made)();
    },
  });
  api = withWriteKeys(client, () => clock);
});

const write = (body: typeof NOTE = NOTE): Promise<unknown> =>
  api.POST('/v1/crm/notes', { body }).catch((error: unknown) => error);

describe('what is written again', () => {
  it.each([
    ['an answer that got lost', lost],
    ['a failure of the platform', refused(500, 'internal_error')],
    ['an answer that came too late', refused(504, 'upstream_timeout')],
    ['one that is still at work', refused(409, 'idempotency_in_progress')],
    ['too many calls', refused(429, 'rate_limited')],
    ['a token that has ended', refused(401, 'token_expired')],
    ['a right that is missing', refused(403, 'permission_denied')],
  ])('after %s it is the same thing', async (_, answer) => {
    answers = [answer];
    await write();
    await write();
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  it('goes on being so over several that got lost', async () => {
    answers = [lost, refused(429, 'rate_limited'), lost];
    for (let press = 0; press < 4; press += 1) await write();
    expect(new Set(keys).size).toBe(1);
  });

  it.each([
    ['it was made', made],
    ['it was refused', refused(400, 'validation_failed')],
    ['something is in its way', refused(409, 'duplicate_value')],
  ])('after %s it is another', async (_, answer) => {
    answers = [answer];
    await write();
    await write();
    expect(keys[1]).not.toBe(keys[0]);
  });

  it('is another with another text, and with another place', async () => {
    answers = [lost, lost, lost];
    await write();
    await write({ ...NOTE, body: 'Called back twice' });
    const params = (id: string) => ({ path: { id } });
    const body = { contact_ids: [NOTE.contact_id] };
    for (const id of ['l-1', 'l-2'])
      await api
        .POST('/v1/crm/lists/{id}/members', { params: params(id), body })
        .catch((error: unknown) => error);
    expect(new Set(keys).size).toBe(4);
  });

  it('is another after an hour', async () => {
    answers = [lost, lost];
    await write();
    clock = HOUR_MS;
    await write();
    clock = HOUR_MS + 1;
    await write();
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it('is the same thing while the first is under way', async () => {
    await Promise.all([write(), write()]);
    expect(keys[1]).toBe(keys[0]);
  });
});

describe('what needs no kept key', () => {
  it('keeps the one that it is given', async () => {
    await api.POST('/v1/crm/notes', { body: NOTE, idempotencyKey: 'mine' });
    expect(keys).toEqual(['mine']);
  });

  it('is restored anew each time: it may have been deleted again in between', async () => {
    answers = [lost];
    const restore = (): Promise<unknown> =>
      api
        .POST('/v1/crm/notes/{id}/restore', { params: { path: { id: 'n-1' } } })
        .catch((error: unknown) => error);
    await restore();
    await restore();
    expect(keys[1]).not.toBe(keys[0]);
  });
});
