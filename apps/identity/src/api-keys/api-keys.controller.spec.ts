import { hashApiKey, isWellFormedApiKey } from '@customer-platform/authorization';
import { jest } from '@jest/globals';
import { Clock, newId } from '@customer-platform/database';
import type { Page } from '@customer-platform/http';
import { behindLock, Caller, eventually, type Answer } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import type { ApiKeyDto, IssuedApiKeyDto } from './api-key.dto.js';

const KEYS = '/v1/identity/api-keys';
interface ProblemBody {
  code: string;
  errors?: { pointer: string; code: string }[];
  missing?: string[];
}

describe('API keys', () => {
  let bench: IdentityBench;
  let organization: TestOrganization;
  let roleId: string;

  beforeAll(async () => {
    bench = await IdentityBench.start();
  });
  afterAll(() => bench.end());
  beforeEach(async () => {
    organization = await bench.organization();
    roleId = await bench.role(organization.id, ['core.events.write']);
  });

  const create = (body: object, headers?: Record<string, string>): Promise<Answer<IssuedApiKeyDto>> =>
    organization.admin.post(KEYS, { name: 'Shop', role_id: roleId, ...body }, headers);
  const rotate = (id: string, body?: object): Promise<Answer<IssuedApiKeyDto & ProblemBody>> =>
    organization.admin.post(`${KEYS}/${id}/rotate`, body);
  const find = async (id: string): Promise<ApiKeyDto | undefined> => {
    const { body } = await organization.admin.get<Page<ApiKeyDto>>(`${KEYS}?limit=200`);
    return body.data.find((key) => key.id === id);
  };
  const works = async (key: string): Promise<number> =>
    (await new Caller(bench.app.url, key).get('/v1/identity/permissions')).status;

  describe('POST /v1/identity/api-keys', () => {
    it('201 with the key, shown once, that then works', async () => {
      const { status, headers, body } = await create({});
      expect(status).toBe(201);
      expect(headers.get('location')).toBe(`${KEYS}/${body.id}`);
      expect(isWellFormedApiKey(body.key)).toBe(true);
      expect(body).toEqual({
        id: expect.any(String),
        name: 'Shop',
        role_id: roleId,
        prefix: body.key.slice(0, 13),
        status: 'active',
        expires_at: null,
        last_used_at: null,
        rotated_from_id: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
        key: expect.any(String),
      });
      const listed = await find(body.id);
      expect(listed).toEqual({ ...body, key: undefined });
      expect(await works(body.key)).toBe(403); // known, without the permission
    });

    it('leaves the key in no row, event or audit entry', async () => {
      const { body } = await create({});
      const rows = await bench.database.query<{ text: string }>(
        `SELECT (SELECT json_agg(o)::text FROM outbox o) || (SELECT json_agg(a)::text FROM audit_entries a)
             || (SELECT json_agg(k)::text FROM api_keys k) || coalesce((SELECT json_agg(i)::text FROM idempotency_keys i), '')
             AS text`,
      );
      expect(rows[0]?.text).toContain(hashApiKey(body.key));
      expect(rows[0]?.text).not.toContain(body.key.slice(13, 25));
    });

    it('answers a repeat with the same Idempotency-Key without the secret', async () => {
      const headers = { 'idempotency-key': newId() };
      const first = await create({}, headers);
      const second = await create({}, headers);
      expect(second.status).toBe(201);
      expect(second.headers.get('idempotent-replay')).toBe('true');
      expect(second.body).toEqual({ ...first.body, key: undefined });
      const other = await organization.admin.post<ProblemBody>(
        KEYS,
        { name: 'Else', role_id: roleId },
        headers,
      );
      expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    });

    it.each([
      ['no name', { name: undefined }, '/name', 'required'],
      ['a name too long', { name: 'n'.repeat(81) }, '/name', 'too_long'],
      ['a role that is no id', { role_id: 'owner' }, '/role_id', 'invalid_format'],
      ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, '/expires_at', 'out_of_range'],
      ['an end in three years', { expires_at: inYears(3) }, '/expires_at', 'out_of_range'],
      ['an end without offset', { expires_at: '2027-01-01T00:00:00' }, '/expires_at', 'invalid_format'],
      ['a field of its own', { key: 'x' }, '/key', 'unknown_field'],
    ])('400 for %s', async (_, change, pointer, code) => {
      const { status, body } = await organization.admin.post<ProblemBody>(KEYS, {
        name: 'Shop',
        role_id: roleId,
        ...change,
      });
      expect(status).toBe(400);
      expect(body.errors).toEqual([expect.objectContaining({ pointer, code })]);
    });

    it('takes an end within two years', async () => {
      const expires_at = inYears(1);
      const { status, body } = await create({ expires_at });
      expect([status, body.expires_at]).toEqual([201, expires_at]);
    });

    it('422 for a role of another organization, the same as for one that does not exist', async () => {
      const elsewhere = await bench.organization();
      const foreign = await bench.role(elsewhere.id, ['core.events.write']);
      const answers = await Promise.all([foreign, newId()].map((id) => create({ role_id: id })));
      const [one, other] = answers.map(({ status, body }) => ({
        status,
        body: { ...body, correlation_id: undefined },
      }));
      expect(one).toMatchObject({ status: 422, body: { code: 'reference_not_found' } });
      expect(one).toEqual(other);
    });

    it('422 for a deleted role, 409 for a human one', async () => {
      const human = await bench.role(organization.id, [], 'human');
      expect(await create({ role_id: human })).toMatchObject({
        status: 409,
        body: { code: 'role_kind_mismatch' },
      });
      await bench.within(organization.id, (tx) =>
        tx.query(`UPDATE roles SET deleted_at = now() WHERE id = $1`, [roleId]),
      );
      expect(await create({})).toMatchObject({ status: 422, body: { code: 'reference_deleted' } });
    });

    it('403 privilege_escalation for a role that may more than the caller', async () => {
      const caller = await bench.caller(organization, ['identity.api_keys.create', 'core.events.write']);
      expect((await caller.post(KEYS, { name: 'Same', role_id: roleId })).status).toBe(201);
      const wider = await bench.role(organization.id, [
        'core.events.write',
        'core.contacts.read',
        'crm.notes.read',
      ]);
      const { status, body } = await caller.post<ProblemBody>(KEYS, { name: 'More', role_id: wider });
      expect([status, body.code, body.missing]).toEqual([
        403,
        'privilege_escalation',
        ['core.contacts.read', 'crm.notes.read'],
      ]);
    });

    it('409 limit_reached beyond 200 that work, rotated ones among them; rotating works always', async () => {
      await bench.within(organization.id, (tx) =>
        tx.query(
          `INSERT INTO api_keys (organization_id, id, name, role_id, key_hash, prefix, created_at, updated_at)
           SELECT $1, gen_random_uuid(), 'Bulk', $2, sha256(n::text::bytea), 'cpk_live_0000', now(), now()
             FROM generate_series(1, 197) n`,
          [organization.id, roleId],
        ),
      );
      const { body: first } = await create({});
      const { status, body: second } = await rotate(first.id);
      expect([status, (await create({})).status]).toEqual([200, 409]);
      expect((await rotate(second.id)).status).toBe(200);
      expect((await create({})).status).toBe(409);
    });

    it('409 limit_reached beyond 200 active keys, and room again after one is revoked', async () => {
      await bench.within(organization.id, (tx) =>
        tx.query(
          `INSERT INTO api_keys (organization_id, id, name, role_id, key_hash, prefix, created_at, updated_at)
           SELECT $1, gen_random_uuid(), 'Bulk', $2, sha256(n::text::bytea), 'cpk_live_0000', now(), now()
             FROM generate_series(1, 198) n`,
          [organization.id, roleId],
        ),
      );
      const attempts = await Promise.all(Array.from({ length: 5 }, () => create({})));
      expect(attempts.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
      const made = attempts.find(({ status }) => status === 201)?.body;
      expect(attempts.find(({ status }) => status === 409)?.body).toMatchObject({
        code: 'limit_reached',
        limit: 200,
      });
      await organization.admin.delete(`${KEYS}/${made?.id ?? ''}`);
      expect((await create({})).status).toBe(201);
    });
  });

  describe('POST /v1/identity/api-keys/{id}/rotate', () => {
    it('gives a new key of the same name and role and lets the former work for a day', async () => {
      const { body: former } = await create({});
      const { status, body } = await rotate(former.id);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        name: 'Shop',
        role_id: roleId,
        status: 'active',
        rotated_from_id: former.id,
      });
      expect(body.key).not.toBe(former.key);
      const expiring = await find(former.id);
      expect(expiring?.status).toBe('expiring');
      const overlap = Date.parse(expiring?.expires_at ?? '') - Date.parse(expiring?.updated_at ?? '');
      expect(overlap).toBe(86_400_000);
      expect([await works(former.key), await works(body.key)]).toEqual([403, 403]);
    });

    it('ends the former at once with 0', async () => {
      const { body: former } = await create({});
      const { body } = await rotate(former.id, { expires_in: 0 });
      expect((await find(former.id))?.status).toBe('expired');
      await eventually(async () => expect(await works(former.key)).toBe(401));
      expect(await works(body.key)).toBe(403);
    });

    it('keeps an earlier end of the former, and gives the new one as long a life', async () => {
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      const { body: former } = await create({ expires_at });
      const { body } = await rotate(former.id, { expires_in: 604_800 });
      expect((await find(former.id))?.expires_at).toBe(expires_at);
      const life = (key: ApiKeyDto) => Date.parse(key.expires_at ?? '') - Date.parse(key.created_at);
      expect(life(body)).toBe(life(former));
    });

    it('409 invalid_state for a key that is expiring, expired or revoked', async () => {
      const { body: former } = await create({});
      await rotate(former.id);
      expect(await rotate(former.id)).toMatchObject({ status: 409, body: { code: 'invalid_state' } });
      const { body: revoked } = await create({});
      await organization.admin.delete(`${KEYS}/${revoked.id}`);
      expect(await rotate(revoked.id)).toMatchObject({ status: 409, body: { code: 'invalid_state' } });
    });

    it('ends the eldest at once where the key was made by a rotation itself', async () => {
      const { body: first } = await create({});
      const { body: second } = await rotate(first.id);
      const { body: third } = await rotate(second.id);
      const statuses = await Promise.all(
        [first, second, third].map(async ({ id }) => (await find(id))?.status),
      );
      expect(statuses).toEqual(['revoked', 'expiring', 'active']);
      await eventually(async () => expect(await works(first.key)).toBe(401));
      expect([await works(second.key), await works(third.key)]).toEqual([403, 403]);
    });

    it('409 invalid_state for a key that expires while it is waited for', async () => {
      const end = new Date(Date.now() + 3_600_000);
      const { id } = (await create({ expires_at: end.toISOString() })).body;
      const clock = jest.spyOn(bench.app.app.get(Clock, { strict: false }), 'now');
      try {
        const answer = await behindLock(
          bench.database,
          { sql: 'SELECT FROM api_keys WHERE id = $1 FOR UPDATE', values: [id] },
          () => rotate(id),
          () => clock.mockReturnValue(end),
        );
        expect(answer).toMatchObject({ status: 409, body: { code: 'invalid_state', state: 'expired' } });
      } finally {
        clock.mockRestore();
      }
    });

    it('makes one successor of ten rotations at once', async () => {
      const { body: former } = await create({});
      const attempts = await Promise.all(Array.from({ length: 10 }, () => rotate(former.id)));
      expect(attempts.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(attempts.filter(({ status }) => status === 409)).toHaveLength(9);
    });

    it.each([-1, 604_801, 1.5, '60', null])('400 for expires_in %s', async (expires_in) => {
      const { body: former } = await create({});
      const { status, body } = await rotate(former.id, { expires_in });
      expect([status, body.errors?.[0]?.pointer]).toEqual([400, '/expires_in']);
    });

    it('403 privilege_escalation when the caller lacks what the key may', async () => {
      const caller = await bench.caller(organization, ['identity.api_keys.rotate']);
      const { body: former } = await create({});
      const { status, body } = await caller.post<ProblemBody>(`${KEYS}/${former.id}/rotate`);
      expect([status, body.code, body.missing]).toEqual([403, 'privilege_escalation', ['core.events.write']]);
      expect((await find(former.id))?.status).toBe('active');
    });

    it('is one audit row that names the former key and, as what changed, the new one', async () => {
      const { body: former } = await create({});
      const { body } = await rotate(former.id);
      const rows = await bench.database.query(
        `SELECT action, resource_id, changed_fields, actor_type, actor_id FROM audit_entries
          WHERE organization_id = $1 ORDER BY id DESC LIMIT 1`,
        [organization.id],
      );
      expect(rows).toEqual([
        {
          action: 'identity.api_keys.rotate',
          resource_id: former.id,
          changed_fields: [body.id],
          actor_type: 'api_key',
          actor_id: organization.adminKeyId,
        },
      ]);
    });
  });

  describe('DELETE /v1/identity/api-keys/{id}', () => {
    it('ends the key everywhere; a repeat changes nothing', async () => {
      const { body: key } = await create({});
      expect(await works(key.key)).toBe(403);
      expect((await organization.admin.delete(`${KEYS}/${key.id}`)).status).toBe(204);
      await eventually(async () => expect(await works(key.key)).toBe(401));
      const ended = await find(key.id);
      expect(ended?.status).toBe('revoked');
      expect((await organization.admin.delete(`${KEYS}/${key.id}`)).status).toBe(204);
      expect(await find(key.id)).toEqual(ended);
    });

    it('lets an expired key be', async () => {
      const { body: former } = await create({});
      await rotate(former.id, { expires_in: 0 });
      expect((await organization.admin.delete(`${KEYS}/${former.id}`)).status).toBe(204);
      expect((await find(former.id))?.status).toBe('expired');
    });
  });

  it('are those of the own organization: another’s answer like ones that do not exist', async () => {
    const elsewhere = await bench.organization();
    const { body: key } = await create({});
    const calls = (id: string) => [
      elsewhere.admin.delete(`${KEYS}/${id}`),
      elsewhere.admin.post(`${KEYS}/${id}/rotate`, {}),
    ];
    const shape = async (id: string) =>
      (await Promise.all(calls(id))).map(({ status, body }) => ({
        status,
        body: JSON.stringify({ ...body, correlation_id: null }).replaceAll(id, 'ID'),
      }));
    const [foreign, missing] = [await shape(key.id), await shape(newId())];
    expect(foreign.map(({ status }) => status)).toEqual([404, 404]);
    expect(foreign).toEqual(missing);
    const { body } = await elsewhere.admin.get<Page<ApiKeyDto>>(KEYS);
    expect(body.data.map(({ id }) => id)).toEqual([elsewhere.adminKeyId]);
  });

  describe('GET /v1/identity/api-keys', () => {
    it('filters by role and status, sorts, and pages through all of them once', async () => {
      const { body: revoked } = await create({ name: 'Alpha' });
      await organization.admin.delete(`${KEYS}/${revoked.id}`);
      for (const name of ['Delta', 'Charlie', 'Bravo']) await create({ name });
      const names = async (query: string) => {
        const { body } = await organization.admin.get<Page<ApiKeyDto>>(`${KEYS}?${query}`);
        return body.data.map(({ name }) => name);
      };
      expect(await names(`role_id=${roleId}&sort=name`)).toEqual(['Alpha', 'Bravo', 'Charlie', 'Delta']);
      expect(await names(`role_id=${roleId}&status=active&sort=-name`)).toEqual([
        'Delta',
        'Charlie',
        'Bravo',
      ]);
      expect(await names(`role_id=${roleId}&status[ne]=active`)).toEqual(['Alpha']);
      expect(await names(`role_id=${roleId}&name[prefix]=dEL`)).toEqual(['Delta']);
      expect(await names('name=bravo')).toEqual(['Bravo']);
      expect(await names('name[prefix]=%25')).toEqual([]);
      expect(await names(`prefix=${revoked.prefix}`)).toEqual(['Alpha']);
      const walked: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const after: string = cursor ? `&cursor=${cursor}` : '';
        const { body }: Answer<Page<ApiKeyDto>> = await organization.admin.get(
          `${KEYS}?limit=2&sort=last_used_at${after}`,
        );
        walked.push(...body.data.map(({ id }) => id));
        cursor = body.page.next_cursor;
      }
      expect(walked).toHaveLength(5);
      expect(new Set(walked).size).toBe(5);
    });
  });
});

function inYears(years: number): string {
  const at = new Date();
  at.setUTCFullYear(at.getUTCFullYear() + years);
  return at.toISOString();
}
