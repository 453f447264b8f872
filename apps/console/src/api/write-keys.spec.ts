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
let replays: number;
let api: Client;

beforeEach(() => {
  clock = 0;
  keys = [];
  answers = [];
  replays = 0;
  const client = createClient({
    baseUrl: 'http://platform.test',
    retry: { attempts: 1 },
    fetch: async (request) => {
      keys.push(request.headers.get('Idempotency-Key'));
      return (answers.shift() ?? made)();
    },
  });
  api = withWriteKeys(client, { now: () => clock, onReplay: () => (replays += 1) });
});

const write = (body: typeof NOTE = NOTE): Promise<unknown> =>
  api.POST('/v1/crm/notes', { body }).catch((error: unknown) => error);

const touch = async (method: 'DELETE' | 'PATCH', id: string): Promise<unknown> => {
  const params = { path: { id } };
  const call =
    method === 'DELETE'
      ? api.DELETE('/v1/crm/notes/{id}', { params })
      : api.PATCH('/v1/crm/notes/{id}', { params, body: { body: 'Otherwise' } });
  return call.catch((error: unknown) => error);
};

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
    for (const id of ['d-1', 'd-2'])
      await api
        .POST('/v1/messaging/webhook-deliveries/{id}/redeliver', { params: { path: { id } } })
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

  it.each([
    ['a note was deleted', 'DELETE'],
    ['a note was changed', 'PATCH'],
  ] as const)('is another wish once %s: the first may be what was taken back', async (_, method) => {
    answers = [lost];
    await write();
    await touch(method, 'n-1');
    await write();
    expect(keys.at(-1)).not.toBe(keys[0]);
  });

  it('is another wish although the answer of what was written in between got lost', async () => {
    answers = [lost, lost];
    await write();
    await touch('DELETE', 'n-1');
    await write();
    expect(keys.at(-1)).not.toBe(keys[0]);
  });

  it('stays the same thing where what came in between was refused, is about another, or only one more', async () => {
    answers = [lost, refused(409, 'resource_referenced')];
    await write();
    await touch('DELETE', 'n-1');
    await api.DELETE('/v1/crm/activities/{id}', { params: { path: { id: 'a-1' } } });
    await write({ ...NOTE, body: 'Another' });
    await write();
    expect(keys.at(-1)).toBe(keys[0]);
  });

  it('stays the same thing where what came in between was only looked at', async () => {
    const make = (dry_run: boolean): Promise<unknown> =>
      api
        .POST('/v1/core/attribute-definitions', {
          body: { entity_type: 'contact', name: 'size', label: 'Size', type: 'text', dry_run } as never,
        })
        .catch((error: unknown) => error);
    answers = [lost];
    await make(false);
    await make(true);
    await make(false);
    expect(keys[2]).toBe(keys[0]);
  });

  it('is another wish once points were reversed', async () => {
    const transact = (body: object): Promise<unknown> =>
      api.POST('/v1/loyalty/transactions', { body: body as never }).catch((error: unknown) => error);
    const given = { kind: 'adjust', contact_id: NOTE.contact_id, points: 5, reason: 'Late parcel' };
    answers = [lost];
    await transact(given);
    await transact({ kind: 'reverse', reverses_id: 't-1', reason: 'Wrong person' });
    await transact(given);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it('is another wish once the same thing was told otherwise, not once another was', async () => {
    const rotate = (id: string, grace_days: number): Promise<unknown> =>
      api
        .POST('/v1/identity/api-keys/{id}/rotate', {
          params: { path: { id } },
          body: { grace_days },
        } as never)
        .catch((error: unknown) => error);
    answers = [lost];
    await rotate('k-1', 1);
    await rotate('k-2', 2);
    await rotate('k-1', 1);
    expect(keys[2]).toBe(keys[0]);
    answers = [lost];
    await rotate('k-1', 1);
    await rotate('k-1', 0);
    await rotate('k-1', 1);
    expect(keys[5]).not.toBe(keys[3]);
  });

  it('is the same thing while the first is under way', async () => {
    await Promise.all([write(), write()]);
    expect(keys[1]).toBe(keys[0]);
  });
});

describe('an answer of an earlier attempt', () => {
  it('is told as such, so that what the page shows is read again', async () => {
    answers = [
      lost,
      () => Response.json({ id: 'n-1' }, { status: 201, headers: { 'Idempotent-Replay': 'true' } }),
    ];
    await write();
    expect(replays).toBe(0);
    await write();
    expect(replays).toBe(1);
    await write();
    expect(replays).toBe(1);
  });
});

describe('what needs no kept key', () => {
  it('keeps the one that it is given', async () => {
    await api.POST('/v1/crm/notes', { body: NOTE, idempotencyKey: 'mine' });
    expect(keys).toEqual(['mine']);
  });

  it.each([
    [
      'what a contact said',
      () =>
        api.POST('/v1/core/contacts/{id}/consents', {
          params: { path: { id: NOTE.contact_id } },
          body: { purpose: 'marketing', status: 'withdrawn' },
        }),
    ],
    [
      'that an address is suppressed',
      () =>
        api.POST('/v1/messaging/suppressions', {
          body: { channel: 'email', address: 'ana@example.com', reason: 'manual' },
        }),
    ],
  ])('says anew each time %s: somebody else may have said otherwise in between', async (_, say) => {
    answers = [lost];
    await say().catch((error: unknown) => error);
    await say().catch((error: unknown) => error);
    expect(keys[1]).not.toBe(keys[0]);
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
