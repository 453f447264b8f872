import type { Permission } from '@customer-platform/permissions';
import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { CAMPAIGNS, CampaignWorld, type CampaignShop } from './campaign.fixture.js';

const ABLE: readonly Permission[] = [
  'messaging.campaigns.run',
  'messaging.campaigns.update',
  'core.segments.read',
  'core.contacts.read',
];
const WITHIN = { within: 20_000 };

let world: CampaignWorld;
beforeAll(async () => {
  world = await CampaignWorld.start();
});
afterAll(() => world.close());

/** A campaign that somebody has run who holds that and no more, at rest. */
async function aRestingRun(shop: CampaignShop): Promise<{ id: string; key: string; runner: Caller }> {
  const { registry } = world.messaging.app;
  const key = registry.key({ organizationId: shop.id, permissions: ABLE });
  const runner = world.messaging.app.with(key);
  const { id } = await shop.campaign(world.people(1), { paused: true });
  expectStatus(await runner.post(`${CAMPAIGNS}/${id}/run`), 202);
  const { maker } = await shop.shown({ id });
  expect(maker).toEqual({ type: 'api_key', id: registry.idOf(key) });
  return { id, key, runner };
}

/** It goes on, and its one message has been looked at and put off. */
async function waits(shop: CampaignShop, id: string): Promise<void> {
  expectStatus(await shop.patch({ id }, { paused: false }), 200);
  await eventually(async () => {
    const rows = await world.messaging.database.query<{ waits: boolean }>(
      `SELECT claim IS NULL AND due_at > created_at + interval '1 minute' AS waits FROM sends
        WHERE source_id = $1 AND due_at < 'infinity'`,
      [id],
    );
    expect(rows).toEqual([{ waits: true }]);
  }, WITHIN);
}

describe('a campaign whose maker cannot read any more what it carries', () => {
  it('waits, is seen to, and goes on with who adopts it', async () => {
    const shop = world.organization();
    const { id, key, runner } = await aRestingRun(shop);
    world.messaging.app.registry.permit(key, ['messaging.campaigns.update']);
    await eventually(
      async () => expect((await runner.post(`${CAMPAIGNS}/${id}/run`)).status).toBe(403),
      WITHIN,
    );
    await waits(shop, id);
    expect(await shop.shown({ id })).toMatchObject({ standing: 'not_permitted', state: 'running' });
    expectProblem(await runner.patch(`${CAMPAIGNS}/${id}`, { adopt: true }), 403, 'permission_denied');
    expect((await shop.patch({ id }, { adopt: true })).body).toMatchObject({ standing: 'permitted' });
    await world.messaging.database.query('UPDATE sends SET due_at = now() WHERE source_id = $1', [id]);
    const { last_run } = await shop.completed({ id });
    expect(last_run?.counts).toMatchObject({ audience: 1, sent: 1 });
  });

  it('goes on unowned where nobody is known to have made it', async () => {
    const shop = world.organization();
    const { id } = await aRestingRun(shop);
    await world.messaging.database.query(
      'UPDATE campaigns SET maker_type = NULL, maker_id = NULL, maker_since = NULL WHERE id = $1',
      [id],
    );
    expectStatus(await shop.patch({ id }, { paused: false }), 200);
    expect(await shop.completed({ id })).toMatchObject({ standing: 'unowned', maker: null });
  });
});
