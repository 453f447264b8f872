import { DatabaseFault, expectStatus } from '@customer-platform/testing';
import { template } from '../../../messaging.fixture.js';
import { Provider } from '../../../provider.fixture.js';
import { CampaignWorld, counted, type StoredContact } from '../campaign.fixture.js';
import { MOST_TRIES } from './campaign-members.repository.js';

const provider = new Provider();
let world: CampaignWorld;
beforeAll(async () => {
  await provider.start();
  world = await CampaignWorld.start();
});
afterAll(async () => {
  await world.close();
  await provider.stop();
});

function three(): [StoredContact, StoredContact, StoredContact] {
  return world.people(3) as [StoredContact, StoredContact, StoredContact];
}

/** As if what was put off had waited long enough, after so many tries. */
async function due(runId: string, tries: number): Promise<void> {
  await world.messaging.database.query(
    `UPDATE campaign_members SET look_at = '-infinity', tries = $2 WHERE run_id = $1 AND state = 'pending'`,
    [runId, tries],
  );
}

describe('handing over', () => {
  it('asks core for whom a member of the piece makes room for while it is asked', async () => {
    const shop = world.organization();
    const people = world.people(501);
    world.pageSize = 501;
    const campaign = await shop.campaign(people);
    let looks = 0;
    world.beforeLookUp = async () => {
      looks += 1;
      if (looks > 1) return;
      await world.messaging.database.query(
        `UPDATE campaign_members SET state = 'skipped', reason = 'erased', contact_id = NULL WHERE contact_id = $1`,
        [people[0]?.id],
      );
    };
    await shop.run(campaign);
    const done = await shop.completed(campaign);
    world.beforeLookUp = () => Promise.resolve();
    world.pageSize = 3;
    expect(counted(done)).toEqual({ audience: 501, skipped: 1, sent: 500 });
    expect(done.last_run?.skipped_reasons).toEqual({ erased: 1 });
  });

  it('asks again for whom core answers what cannot be read, and skips them in the end', async () => {
    const shop = world.organization();
    const people = three();
    const [late, never] = people;
    late.state = never.state = 'odd';
    const campaign = await shop.campaign(people);
    const runId = await shop.run(campaign);
    const waiting = await shop.until(campaign, ({ last_run: run }) => run?.counts.sent === 1);
    expect(counted(waiting)).toEqual({ audience: 3, pending: 2, sent: 1 });
    late.state = 'active';
    await due(runId, 1);
    await shop.until(campaign, ({ last_run: run }) => run?.counts.sent === 2);
    await due(runId, MOST_TRIES - 1);
    const done = await shop.completed(campaign);
    expect(counted(done)).toEqual({ audience: 3, skipped: 1, sent: 2 });
    expect(done.last_run?.skipped_reasons).toEqual({ internal_error: 1 });
    expect(await world.recount(runId)).toEqual(counted(done));
  });

  it('goes on with all but the one who cannot be written', async () => {
    const shop = world.organization();
    const people = world.people(7);
    const [, poison] = people;
    const fault = await DatabaseFault.in(world.messaging.database, {
      table: 'sends',
      on: 'INSERT',
      when: `NEW.contact_id = '${poison?.id ?? ''}'`,
    });
    world.pageSize = 7;
    const campaign = await shop.campaign(people);
    const runId = await shop.run(campaign);
    const waiting = await shop.until(campaign, ({ last_run: run }) => run?.counts.sent === 6);
    world.pageSize = 3;
    expect(counted(waiting)).toEqual({ audience: 7, pending: 1, sent: 6 });
    await due(runId, MOST_TRIES - 1);
    const done = await shop.completed(campaign);
    await fault.mend();
    expect(done.last_run?.skipped_reasons).toEqual({ internal_error: 1 });
    expect(await world.recount(runId)).toEqual({ audience: 7, skipped: 1, sent: 6 });
  });

  it('writes to one person once, though another who was written to was merged into them meanwhile', async () => {
    const shop = world.organization();
    const people = world.people(2) as [StoredContact, StoredContact];
    const [first, survivor] = people;
    survivor.state = 'odd';
    const campaign = await shop.campaign(people);
    const runId = await shop.run(campaign);
    await shop.until(campaign, ({ last_run: run }) => run?.counts.sent === 1);
    await world.messaging.database.query(
      `UPDATE contacts SET state = 'merged', merged_into = $2 WHERE id = $1`,
      [first.id, survivor.id],
    );
    survivor.state = 'active';
    await due(runId, 1);
    const done = await shop.completed(campaign);
    expect(counted(done)).toEqual({ audience: 2, skipped: 1, sent: 1 });
    expect(done.last_run?.skipped_reasons).toEqual({ duplicate_contact: 1 });
    expect(people.map(({ email }) => world.messaging.mail.to(email).length)).toEqual([1, 0]);
  });

  it('asks for the devices of many at once, and not again for those it has been told of', async () => {
    const shop = world.organization();
    const push = {
      provider: 'http',
      url: `${provider.url}/in`,
      secret: `whsec_${'A'.repeat(32)}`,
      max_per_second: 1_000,
    };
    const put = await shop.api.call('PUT', '/v1/messaging/channel-settings', {
      body: { channels: { push } },
    });
    expectStatus(put, 200);
    const people = world.people(300);
    world.pageSize = 300;
    world.deviceOf = (id) => `device-${id}`;
    const before = world.core.calls.length;
    const campaign = await shop.campaign(people, {
      channel: 'push',
      template_id: await template(shop.api, {
        channel: 'push',
        locales: { es: { title: 'Hola', body: 'x' } },
      }),
    });
    await shop.run(campaign);
    const done = await shop.completed(campaign);
    world.pageSize = 3;
    expect(counted(done)).toEqual({ audience: 300, sent: 300 });
    const asked = world.core.calls
      .slice(before)
      .filter(({ route }) => route === 'POST /internal/contacts/devices')
      .map(({ body }) => (body as { ids: string[] }).ids.length);
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(300);
    expect(asked.length).toBeLessThanOrEqual(2);
  });
});
