import { generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import { jest } from '@jest/globals';
import {
  END_WITHIN_MS,
  eventually,
  type Caller,
  type PlatformUnderTest,
  START_WITHIN_MS,
  type Tenant,
} from '@customer-platform/testing';
import { endJourneys, journeyPlatform } from './journey.fixture.js';
import { EVENT, introduce, prepareChain } from './chain.fixture.js';

interface Listed<T> {
  data: T[];
}
interface Correlated {
  id: string;
  correlation_id: string;
}

const SETTLED = { within: 30_000 };

jest.setTimeout(120_000);
afterAll(endJourneys, END_WITHIN_MS);

describe('one event, through all six services', () => {
  let platform: PlatformUnderTest;
  let tenant: Tenant;

  beforeAll(async () => {
    platform = await journeyPlatform();
    tenant = await platform.tenant();
    await prepareChain(tenant);
  }, START_WITHIN_MS);

  it('earns points and sends a mail, all under one correlation id, and stands in the timeline', async () => {
    const externalId = `customer-${randomUUID()}`;
    const email = `${externalId}@example.com`;
    await introduce(tenant.ingestion, externalId, email);
    const tracked = await tenant.ingestion.post<{ event_id: string }>('/v1/core/track', {
      event: EVENT,
      external_id: externalId,
      idempotency_key: randomUUID(),
      occurred_at: new Date().toISOString(),
      properties: { amount: 12_990, currency: 'CLP', invoice_id: 'F-1001' },
    });
    expect(tracked.status).toBe(202);
    // For an ingested event the correlation id is the event's own (the public contract, "Words").
    const id = tracked.body.event_id;
    expect(tracked.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);

    const event = await eventually(async () => {
      const { body } = await tenant.admin.get<Listed<Correlated & { contact_id: string }>>(
        `/v1/core/events?correlation_id=${id}`,
      );
      expect(body.data).toHaveLength(1);
      return body.data[0];
    }, SETTLED);
    expect(event).toMatchObject({ id, correlation_id: id, event: EVENT, external_id: externalId });
    const contactId = event?.contact_id ?? '';

    const entry = await eventually(async () => {
      const { body } = await tenant.admin.get<Listed<Correlated & { points: number }>>(
        `/v1/loyalty/transactions?correlation_id=${id}`,
      );
      expect(body.data).toHaveLength(1);
      return body.data[0];
    }, SETTLED);
    expect(entry).toMatchObject({ correlation_id: id, kind: 'earn', points: 12 });

    const send = await eventually(async () => {
      const { body } = await tenant.admin.get<Listed<Correlated>>(`/v1/messaging/sends?correlation_id=${id}`);
      expect(body.data).toEqual([expect.objectContaining({ state: 'sent', correlation_id: id })]);
      return body.data[0];
    }, SETTLED);

    const mail = await eventually(async () => {
      const mails = await platform.mailsTo(email);
      expect(mails).toHaveLength(1);
      return mails[0];
    }, SETTLED);
    expect(mail).toMatchObject({ subject: 'Receipt F-1001', correlation_id: id });
    expect(await platform.mailSource(mail?.id ?? '')).toContain(`X-Correlation-ID: ${id}`);

    const entries = await eventually(async () => {
      const { status, body } = await tenant.admin.get<Listed<Correlated & { source: string }>>(
        `/v1/crm/contacts/${contactId}/timeline`,
      );
      expect(status).toBe(200);
      const caused = body.data.filter((item) => item.correlation_id === id);
      expect(caused).toHaveLength(3);
      return caused;
    }, SETTLED);
    expect(entries.map((item) => item.id).sort()).toEqual([id, entry?.id, send?.id].sort());
  });

  it('has one effect however often it is sent', async () => {
    const externalId = `customer-${randomUUID()}`;
    const email = `${externalId}@example.com`;
    await introduce(tenant.ingestion, externalId, email);
    const body = {
      event: EVENT,
      external_id: externalId,
      idempotency_key: randomUUID(),
      occurred_at: new Date().toISOString(),
      properties: { amount: 5_000, currency: 'CLP', invoice_id: 'F-1002' },
    };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => tenant.ingestion.post<{ event_id: string }>('/v1/core/track', body)),
    );
    const ids = new Set(answers.map((answer) => answer.body.event_id));
    expect([ids.size, new Set(answers.map(({ status }) => status))]).toEqual([1, new Set([202])]);
    const [id] = ids;
    await eventually(async () => expect(await platform.mailsTo(email)).toHaveLength(1), SETTLED);
    // The duplicates have been counted, so all twenty are processed: what they caused has been caused.
    await eventually(async () => {
      const { body: usage } = await tenant.admin.get<{ totals: { events: Record<string, number> } }>(
        '/v1/core/usage',
      );
      const { accepted, stored, duplicates, dead_lettered, pending } = usage.totals.events;
      expect(duplicates).toBeGreaterThanOrEqual(19);
      expect([pending, (stored ?? 0) + (duplicates ?? 0) + (dead_lettered ?? 0)]).toEqual([0, accepted]);
    }, SETTLED);
    const count = async (path: string) =>
      (await tenant.admin.get<Listed<object>>(`${path}?correlation_id=${id ?? ''}`)).body.data.length;
    // Loyalty and messaging do not wait for one another.
    await eventually(async () => {
      expect([
        await count('/v1/core/events'),
        await count('/v1/loyalty/transactions'),
        await count('/v1/messaging/sends'),
      ]).toEqual([1, 1, 1]);
    }, SETTLED);
    expect(await platform.mailsTo(email)).toHaveLength(1);
  });

  it('shows in the timeline only what the caller may see elsewhere', async () => {
    const { key } = await platform.keyWith(tenant, ['crm.timeline.read', 'core.events.read']);
    const { body: events } = await tenant.admin.get<Listed<{ contact_id: string }>>(
      `/v1/core/events?event=${EVENT}&limit=1`,
    );
    const path = `/v1/crm/contacts/${events.data[0]?.contact_id ?? ''}/timeline`;
    const { body } = await eventually(async () => {
      const answer = await platform
        .as(key)
        .get<Listed<{ source: string }> & { unreachable?: string[] }>(path);
      expect(answer.status).toBe(200);
      return answer;
    });
    expect(new Set(body.data.map(({ source }) => source))).toEqual(new Set(['core']));
  });

  it('keeps marketing from who has withdrawn, two seconds later, and shows what was said in the timeline', async () => {
    const externalId = `customer-${randomUUID()}`;
    const email = `${externalId}@example.com`;
    await introduce(tenant.ingestion, externalId, email);
    await tenant.ingestion.post('/v1/core/track', {
      event: 'page_seen',
      external_id: externalId,
      idempotency_key: randomUUID(),
      occurred_at: new Date().toISOString(),
    });
    const contactId = await eventually(async () => {
      const { body } = await tenant.admin.get<Listed<{ contact_id: string }>>(
        `/v1/core/events?external_id=${externalId}&event=page_seen`,
      );
      expect(body.data).toHaveLength(1);
      return body.data[0]?.contact_id ?? '';
    }, SETTLED);
    const say = async (status: string) => {
      const answer = await tenant.admin.post<Correlated>(`/v1/core/contacts/${contactId}/consents`, {
        ...{ purpose: 'marketing', channel: 'email', status },
        ...{ notice_version: '2026-03', method: 'web_form' },
      });
      expect(answer.status).toBe(201);
      return answer.body.id;
    };
    const market = async () => {
      const { body } = await tenant.admin.post<{ send_id: string }>(
        '/v1/messaging/sends',
        {
          channel: 'email',
          category: 'marketing',
          recipient: { contact_id: contactId },
          content: { subject: 'Offers', html: '<p>Offers</p>' },
        },
        { 'idempotency-key': randomUUID() },
      );
      return eventually(async () => {
        const found = await tenant.admin.get<Listed<{ state: string; reason: string | null }>>(
          `/v1/messaging/sends?id=${body.send_id}`,
        );
        const [{ state, reason } = { state: '', reason: null }] = found.body.data;
        expect(['sent', 'opted_out']).toContain(state);
        return [state, reason];
      }, SETTLED);
    };
    const granted = await say('granted');
    expect(await market()).toEqual(['sent', null]);
    const withdrawn = await say('withdrawn');
    // Messaging hears of it from Kafka: what is said before that still goes.
    await eventually(async () => expect(await market()).toEqual(['opted_out', 'no_consent']), SETTLED);
    const { body } = await tenant.admin.get<Listed<{ id: string; title: string }>>(
      `/v1/crm/contacts/${contactId}/timeline?type=consent`,
    );
    expect(body.data.map(({ id }) => id)).toEqual([withdrawn, granted]);
  });

  it('has the acts of all modules in one audit log, whose changes a command finds', async () => {
    await platform.keyWith(tenant, ['core.events.read']);
    const { body: events } =
      await tenant.admin.get<Listed<{ contact_id: string }>>('/v1/core/events?limit=1');
    const contactId = events.data[0]?.contact_id ?? '';
    await tenant.admin.post(`/v1/core/contacts/${contactId}/consents`, {
      purpose: 'research',
      status: 'denied',
    });
    const note = await tenant.admin.post<{ id: string }>('/v1/crm/notes', {
      contact_id: contactId,
      body: 'Hi',
    });
    interface Act {
      seq: number;
      module: string;
      resource: { id: string };
    }
    const acts = await eventually(async () => {
      const { body } = await tenant.admin.get<Listed<Act>>('/v1/core/audit-log?limit=200');
      expect(body.data.map(({ resource }) => resource.id)).toContain(note.body.id);
      return body.data;
    });
    expect([...new Set(acts.map(({ module }) => module))].sort()).toEqual([
      ...['core', 'crm', 'identity', 'loyalty', 'messaging'],
    ]);
    const verified = () => platform.command('core', 'audit', 'verify', '--organization', tenant.id, '--json');
    const intact = await verified();
    expect(intact).toEqual({ status: 0, output: expect.stringMatching(/^\{/) as string });
    expect(JSON.parse(intact.output)).toMatchObject({
      chains: [{ organization_id: tenant.id, status: 'intact' }],
      unreadable: 0,
    });
    const seq = acts.at(-1)?.seq ?? 0;
    await platform.query(
      'core',
      `BEGIN; ALTER TABLE audit_log DISABLE TRIGGER append_only_rows;
       UPDATE audit_log SET actor_id = 'nobody' WHERE organization_id = '${tenant.id}' AND seq = ${String(seq)};
       ALTER TABLE audit_log ENABLE ALWAYS TRIGGER append_only_rows; COMMIT`,
    );
    const broken = await platform.command('core', 'audit', 'verify');
    expect(broken.status).toBe(1);
    expect(broken.output).toContain(
      `BROKEN  ${tenant.id}  at row ${String(seq)}: the row is not what its hash`,
    );
  });

  it('lets members in on the word of a key or of the organization, until either is taken back', async () => {
    const externalId = `customer-${randomUUID()}`;
    await introduce(tenant.ingestion, externalId, `${externalId}@example.com`);
    const { id, key } = await platform.keyWith(tenant, ['core.members.exchange']);
    const path = '/v1/core/members/token-exchange';
    const kind = (type: string) => ({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: type,
    });
    const byKey = { ...kind('urn:customer-platform:token-type:external-id'), subject_token: externalId };
    const one = await eventually(async () => {
      const answer = await platform.as(key).post<{ access_token: string }>(path, byKey);
      expect(answer.status).toBe(200);
      return platform.as(answer.body.access_token);
    }, SETTLED);

    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const organization = `/v1/identity/organizations/${tenant.id}`;
    const letSign = async (...keys: object[]) =>
      expect((await tenant.admin.patch(organization, { settings: { member_jwks: { keys } } })).status).toBe(
        200,
      );
    await letSign({ ...publicKey.export({ format: 'jwk' }), kid: 'app' });
    const jwt = signedToken(privateKey, 'app', { iss: tenant.id, sub: externalId, aud: 'member-api' });
    const byJwt = { ...kind('urn:ietf:params:oauth:token-type:jwt'), subject_token: jwt };
    const exchanged = await platform.as().post<{ access_token: string }>(path, byJwt);
    expect(exchanged.status).toBe(200);
    const other = platform.as(exchanged.body.access_token);

    const me = (caller: Caller) => caller.get<{ external_id: string }>('/v1/core/members/me');
    for (const caller of [one, other])
      expect(await me(caller)).toMatchObject({ status: 200, body: { external_id: externalId } });
    await tenant.admin.delete(`/v1/identity/api-keys/${id}`);
    await eventually(async () => expect((await me(one)).status).toBe(401));
    expect((await me(other)).status).toBe(200);
    await letSign();
    await eventually(async () => expect((await me(other)).status).toBe(401));
  });

  it('refuses a revoked key at every module', async () => {
    const { id, key } = await platform.keyWith(tenant, [
      'core.events.read',
      'crm.timeline.read',
      'identity.permissions.read',
      'loyalty.rules.read',
      'messaging.templates.read',
    ]);
    const routes = [
      '/v1/core/events',
      '/v1/identity/permissions',
      '/v1/loyalty/rules',
      '/v1/messaging/templates',
      `/v1/crm/contacts/${randomUUID()}/timeline`,
    ];
    const caller = platform.as(key);
    const statuses = () => Promise.all(routes.map(async (route) => (await caller.get(route)).status));
    await eventually(async () => expect(await statuses()).toEqual([200, 200, 200, 200, 404]));
    expect((await tenant.admin.delete(`/v1/identity/api-keys/${id}`)).status).toBe(204);
    await eventually(async () => expect(await statuses()).toEqual([401, 401, 401, 401, 401]));
  });

  it('goes on accepting events while identity is dead, and stores only what its keys might send', async () => {
    const externalId = `customer-${randomUUID()}`;
    const send = async () => {
      const { status, body } = await tenant.ingestion.post<{ event_id: string }>('/v1/core/track', {
        event: 'page_seen',
        external_id: externalId,
        idempotency_key: randomUUID(),
        occurred_at: new Date().toISOString(),
      });
      expect(status).toBe(202);
      return body.event_id;
    };
    await send();
    await platform.processes['identity']?.crash();
    await eventually(async () => {
      const { status, body } = await tenant.admin.get<{ code: string }>('/v1/core/events');
      expect([status, body.code]).toEqual([503, 'authorization_unavailable']);
    });
    const during = await send();
    await platform.restart('identity');
    await eventually(async () => {
      const { body } = await tenant.admin.get<Listed<{ id: string }>>(
        `/v1/core/events?correlation_id=${during}`,
      );
      expect(body.data).toHaveLength(1);
    }, SETTLED);
  });

  it('has left no key in a log, a row or a message', async () => {
    const logs = platform.logs;
    expect(logs.length).toBeGreaterThan(0);
    for (const key of [tenant.adminKey, tenant.ingestionKey]) {
      // Thirteen characters may be shown: the prefix.
      const secret = key.slice(13, 30);
      expect(logs).not.toContain(secret);
      for (const module of ['identity', 'core', 'loyalty', 'messaging', 'crm'] as const) {
        expect(await tablesWith(platform, module, secret)).toEqual([]);
      }
    }
  });
});

/** A tenant token as an organization makes it, good for a minute. */
function signedToken(key: KeyObject, kid: string, claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1_000) + 60;
  const text = `${part({ alg: 'ES256', kid })}.${part({ ...claims, exp, jti: randomUUID() })}`;
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

/** Names of the tables in which a text occurs, in whatever column. */
async function tablesWith(
  platform: PlatformUnderTest,
  module: Parameters<PlatformUnderTest['query']>[0],
  text: string,
): Promise<string[]> {
  const tables = await platform.query<{ name: string }>(
    module,
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await platform.query<{ found: boolean }>(
      module,
      `SELECT EXISTS (SELECT FROM ${name} AS t WHERE strpos(to_jsonb(t)::text, $1) > 0) AS found`,
      [text],
    );
    if (row?.found) found.push(name);
  }
  return found;
}
