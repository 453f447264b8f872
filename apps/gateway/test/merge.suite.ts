import { randomUUID } from 'node:crypto';
import { eventually, START_WITHIN_MS, type PlatformUnderTest, type Tenant } from '@customer-platform/testing';
import { journeyPlatform } from './journey.fixture.js';
import { EVENT, prepareChain, sendPurchase } from './chain.fixture.js';

interface Listed<T = { id: string }> {
  data: T[];
}
interface Item {
  id: string;
  source: string;
  type: string;
  correlation_id: string | null;
}

const SETTLED = { within: 30_000 };

describe('a merge, followed by all modules', () => {
  let platform: PlatformUnderTest;
  let tenant: Tenant;

  beforeAll(async () => {
    platform = await journeyPlatform();
    tenant = await platform.tenant();
    await prepareChain(tenant);
  }, START_WITHIN_MS);

  const idOf = (externalId: string): Promise<string> =>
    eventually(async () => {
      const { body } = await tenant.admin.get<Listed>(`/v1/core/contacts?external_id=${externalId}`);
      expect(body.data).toHaveLength(1);
      return body.data[0]?.id ?? '';
    }, SETTLED);

  /** Once each module has had the time to answer. */
  function timeline(contactId: string): Promise<Item[]> {
    return eventually(async () => {
      const { status, body } = await tenant.admin.get<Listed<Item> & { unreachable: string[] }>(
        `/v1/crm/contacts/${contactId}/timeline?limit=200`,
      );
      expect([status, body.unreachable]).toEqual([200, []]);
      return body.data;
    });
  }

  const points = async (contactId: string): Promise<number> =>
    (await tenant.admin.get<{ points: number }>(`/v1/loyalty/contacts/${contactId}/balance`)).body.points;
  const notes = async (contactId: string): Promise<number> =>
    (await tenant.admin.get<Listed>(`/v1/crm/notes?contact_id=${contactId}`)).body.data.length;
  const sends = async (contactId: string): Promise<number> =>
    (await tenant.admin.get<Listed>(`/v1/messaging/sends?contact_id=${contactId}`)).body.data.length;

  async function merge(body: object): Promise<string> {
    const answer = await tenant.admin.post<{ merge_id: string }>('/v1/core/contacts/merge', body);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body.merge_id;
  }

  /** A contact with an event, its points and its message, and a note. */
  async function aCustomer(): Promise<{ id: string; externalId: string; items: Item[] }> {
    const { externalId } = await sendPurchase(tenant.ingestion);
    const id = await idOf(externalId);
    const note = await tenant.admin.post('/v1/crm/notes', { contact_id: id, body: 'Called.' });
    expect(note.status).toBe(201);
    const items = await eventually(async () => {
      const found = await timeline(id);
      // An identify, a purchase, its points and its message.
      expect(found.map(({ source }) => source).sort()).toEqual(['core', 'core', 'loyalty', 'messaging']);
      return found;
    }, SETTLED);
    return { id, externalId, items };
  }

  const ids = (...lists: readonly Item[][]): string[] =>
    lists
      .flat()
      .map(({ id }) => id)
      .sort();

  it('shows one history, one balance and all notes, and gives each its own back', async () => {
    const [survivor, merged] = [await aCustomer(), await aCustomer()];
    const mergeId = await merge({ survivor_id: survivor.id, merged_id: merged.id });
    await eventually(async () => {
      expect(ids(await timeline(survivor.id))).toEqual(ids(survivor.items, merged.items));
      expect([await points(survivor.id), await notes(survivor.id), await sends(survivor.id)]).toEqual([
        24, 2, 2,
      ]);
    }, SETTLED);
    const old = await tenant.admin.get(`/v1/crm/contacts/${merged.id}/timeline`);
    expect([old.status, old.headers.get('location')]).toEqual([
      307,
      `/v1/crm/contacts/${survivor.id}/timeline`,
    ]);

    // What the merged contact does from now on is the survivor's: its points, and one message.
    const later = {
      event: EVENT,
      external_id: merged.externalId,
      idempotency_key: randomUUID(),
      occurred_at: new Date().toISOString(),
      properties: { amount: 5_000, currency: 'CLP', invoice_id: 'F-2' },
    };
    expect((await tenant.ingestion.post('/v1/core/track', later)).status).toBe(202);
    await eventually(async () => {
      expect(await timeline(survivor.id)).toHaveLength(11);
      expect(await points(survivor.id)).toBe(29);
    }, SETTLED);

    await merge({ undo_merge_id: mergeId });
    await eventually(async () => {
      expect([(await points(survivor.id)) + (await points(merged.id)), await notes(survivor.id)]).toEqual([
        29, 1,
      ]);
      const own = (await timeline(survivor.id)).filter(({ source }) => source === 'core');
      const back = (await timeline(merged.id)).filter(({ source }) => source === 'core');
      expect([ids(own), back.length]).toEqual([
        ids(survivor.items.filter(({ source }) => source === 'core')),
        3,
      ]);
      expect(await notes(merged.id)).toBe(1);
    }, SETTLED);
    // Nothing was earned or sent a second time.
    const all = async (path: string) =>
      (await tenant.admin.get<Listed>(`${path}?limit=200`)).body.data.length;
    expect([await all('/v1/loyalty/transactions'), await all('/v1/messaging/sends')]).toEqual([3, 3]);
    expect(await points(merged.id)).toBeGreaterThanOrEqual(12);
  });
});
