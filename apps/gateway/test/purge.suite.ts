import { randomUUID } from 'node:crypto';
import {
  eventually,
  type Answer,
  START_WITHIN_MS,
  type PlatformUnderTest,
  type Tenant,
} from '@customer-platform/testing';
import { journeyPlatform } from './journey.fixture.js';
import { prepareChain, sendPurchase } from './chain.fixture.js';

interface Listed {
  data: { id: string }[];
}
interface Refusal {
  code: string;
  references: { module: string; resource: string; count: number }[];
}

const SETTLED = { within: 30_000 };

/** A machine with much else to do says 503: the caller comes back, as callers do. */
function unlessBusy(call: () => Promise<Answer<unknown>>): Promise<Answer<unknown>> {
  return eventually(async () => {
    const answer = await call();
    expect(answer.status).not.toBe(503);
    return answer;
  }, SETTLED);
}

describe('a purge, across all modules', () => {
  let platform: PlatformUnderTest;
  let tenant: Tenant;
  const contacts = '/v1/core/contacts';
  const purge = (id: string): Promise<Answer<Refusal>> => tenant.admin.delete(`${contacts}/${id}/purge`);

  beforeAll(async () => {
    platform = await journeyPlatform();
    tenant = await platform.tenant();
    await prepareChain(tenant);
  }, START_WITHIN_MS);

  async function aDeletedContact(): Promise<string> {
    const { body } = await tenant.admin.post<{ id: string }>(contacts, { external_id: randomUUID() });
    expect((await tenant.admin.delete(`${contacts}/${body.id}`)).status).toBe(204);
    return body.id;
  }

  it('409 while notes, transactions, sends and its own events point to it, each counted', async () => {
    const { externalId } = await sendPurchase(tenant.ingestion);
    const id = await eventually(async () => {
      const found = await tenant.admin.get<Listed>(`${contacts}?external_id=${externalId}`);
      expect(found.body.data).toHaveLength(1);
      return found.body.data[0]?.id ?? '';
    }, SETTLED);
    expect((await tenant.admin.post('/v1/crm/notes', { contact_id: id, body: 'Called.' })).status).toBe(201);
    for (const path of ['/v1/loyalty/transactions', '/v1/messaging/sends']) {
      await eventually(async () => {
        expect((await tenant.admin.get<Listed>(`${path}?contact_id=${id}`)).body.data).toHaveLength(1);
      }, SETTLED);
    }
    expect((await tenant.admin.delete(`${contacts}/${id}`)).status).toBe(204);
    const { status, body } = await purge(id);
    expect([status, body.code]).toEqual([409, 'resource_referenced']);
    expect(body.references).toEqual([
      { module: 'core', resource: 'events', count: 2 },
      { module: 'crm', resource: 'notes', count: 1 },
      { module: 'loyalty', resource: 'transactions', count: 1 },
      { module: 'messaging', resource: 'sends', count: 1 },
    ]);
    expect((await tenant.admin.get(`${contacts}/${id}`)).status).toBe(200);
  });

  it('503 while one module is silent, and nothing is removed; 204 when it is back', async () => {
    const id = await aDeletedContact();
    await platform.processes['loyalty']?.crash();
    const refused = await purge(id);
    expect([refused.status, refused.body.code]).toEqual([503, 'dependency_unavailable']);
    expect((await tenant.admin.get(`${contacts}/${id}`)).status).toBe(200);
    const { body } = await tenant.admin.post<{ id: string }>(contacts, { external_id: randomUUID() });
    // Who opens a contact is told of it.
    await eventually(async () => {
      const timeline = await tenant.admin.get(`/v1/crm/contacts/${body.id}/timeline`);
      expect(timeline).toMatchObject({ status: 200, body: { unreachable: ['loyalty'] } });
    }, SETTLED);
    await platform.restart('loyalty');
    await eventually(async () => expect((await purge(id)).status).toBe(204), SETTLED);
    expect((await tenant.admin.get(`${contacts}/${id}`)).status).toBe(404);
    // The others forget it too: what is written about it now points to nobody.
    await eventually(async () => {
      const note = await tenant.admin.post<{ code: string }>('/v1/crm/notes', {
        contact_id: id,
        body: 'Late.',
      });
      expect([note.status, note.body.code]).toEqual([422, 'reference_not_found']);
    }, SETTLED);
  });

  it('against notes and messages on their way: whatever was written points to a contact that is there', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await aDeletedContact();
      const note = { contact_id: id, body: 'At the same moment.' };
      const send = {
        channel: 'email',
        recipient: { contact_id: id },
        content: { subject: 'Hello', text: 'Hello.' },
      };
      const [purged, ...written] = await Promise.all([
        purge(id),
        ...Array.from({ length: 4 }, () => unlessBusy(() => tenant.admin.post('/v1/crm/notes', note))),
        ...Array.from({ length: 4 }, () => {
          const key = { 'Idempotency-Key': randomUUID() };
          return unlessBusy(() => tenant.admin.post('/v1/messaging/sends', send, key));
        }),
      ]);
      const left = written.filter(({ status }) => status < 300);
      expect(purged.status).toBe(left.length > 0 ? 409 : 204);
      expect(written.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
    }
  });

  describe('the purge of an organization', () => {
    const organizations = '/v1/identity/organizations';
    const root = () => platform.as(platform.ownerKey);
    const purgeOf = (id: string): Promise<Answer<Refusal>> => root().delete(`${organizations}/${id}/purge`);

    it('409 with what each module still has of it', async () => {
      expect((await root().delete(`${organizations}/${tenant.id}`)).status).toBe(204);
      const { status, body } = await purgeOf(tenant.id);
      expect([status, body.code]).toEqual([409, 'resource_referenced']);
      const held = body.references.map(({ module, resource }) => `${module}.${resource}`);
      expect(held).toEqual(
        expect.arrayContaining([
          'identity.api_keys',
          'core.contacts',
          'core.events',
          'crm.notes',
          'loyalty.transactions',
          'loyalty.rules',
          'messaging.sends',
          'messaging.templates',
          'messaging.event_routing',
        ]),
      );
    });

    it('204 for one with nothing but what every organization is given, in any module', async () => {
      const founded = await root().post<{ id: string }>(organizations, { name: 'Empty', slug: 'empty' });
      const { id } = founded.body;
      const givenIn = async (module: 'crm' | 'messaging', table: string): Promise<number> => {
        const rows = await platform.query(module, `SELECT FROM ${table} WHERE organization_id = $1`, [id]);
        return rows.length;
      };
      await eventually(async () => {
        expect(await givenIn('crm', 'activity_types')).toBeGreaterThan(0);
      }, SETTLED);
      expect(await givenIn('messaging', 'event_routing')).toBe(0);
      expect((await root().delete(`${organizations}/${id}`)).status).toBe(204);
      expect((await purgeOf(id)).status).toBe(204);
      expect((await root().get(`${organizations}/${id}`)).status).toBe(404);
    });
  });
});
