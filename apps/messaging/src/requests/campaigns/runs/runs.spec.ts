import { Database, newId } from '@customer-platform/database';
import { eventually, expectStatus } from '@customer-platform/testing';
import { history, template, type ShownSend } from '../../../messaging.fixture.js';
import {
  addsUp,
  CAMPAIGNS,
  CampaignWorld,
  counted,
  type CampaignShop,
  type StoredContact,
} from '../campaign.fixture.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../../vocabulary/config/messaging.config.js';
import { tenantsOf } from '../../../background/organizations/tenants.fixture.js';
import { CampaignRuns } from './campaign-runs.js';
import { RunEnding } from './ending.js';
import { AudienceSnapshot } from './audience-snapshot.js';
import { AudienceDispatch } from './audience-dispatch.js';
import { RunSignal } from './run-signal.js';
import { RunWorker } from './run-worker.js';

let world: CampaignWorld;
beforeAll(async () => {
  world = await CampaignWorld.start();
});
afterAll(() => world.close());

async function sendsOf(shop: CampaignShop, filter: string): Promise<(ShownSend & Record<string, unknown>)[]> {
  const answer = await shop.api.get<{ data: (ShownSend & Record<string, unknown>)[] }>(
    `/v1/messaging/sends?limit=200&${filter}`,
  );
  expectStatus(answer, 200);
  return answer.body.data;
}

function mailsTo(people: readonly StoredContact[]): number[] {
  return people.map(({ email }) => world.messaging.mail.to(email).length);
}

describe('a run', () => {
  it('writes to each member of a segment once, in the words of the template with the data of the campaign', async () => {
    const shop = world.organization();
    const people = world.people(10);
    const template_id = await template(shop.api, {
      locales: { es: { subject: '{{ data.offer }} para {{ contact.first_name }}', html: '<p>Hola</p>' } },
    });
    const campaign = await shop.campaign(people, { template_id, data: { offer: 'Oferta' } });
    const runId = await shop.run(campaign);
    const done = await shop.completed(campaign);
    expect(counted(done)).toEqual({ audience: 10, sent: 10 });
    expect(done.last_run).toMatchObject({
      id: runId,
      state: 'completed',
      template_version: 1,
      finished_at: expect.any(String) as string,
    });
    expect(mailsTo(people)).toEqual(people.map(() => 1));
    const [mail] = await world.messaging.mail.parsed(people[0]?.email ?? '');
    expect(mail?.subject).toBe('Oferta para Ana');
    // Marketing has both headers that end it.
    expect(mail?.headers.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post']),
    );
    expect(await world.recount(runId)).toEqual(counted(done));
    // What is folded says the same as what it was folded from.
    await eventually(async () => {
      const left = await world.messaging.database.query(
        'SELECT 1 FROM campaign_count_changes WHERE run_id = $1',
        [runId],
      );
      expect(left).toEqual([]);
    });
    expect(counted(await shop.shown(campaign))).toEqual(counted(done));
  });

  it('is of a list as well, and its sends tell whose they are', async () => {
    const shop = world.organization();
    const people = world.people(4);
    const audience = world.audience(shop.id, people, 'list');
    const campaign = await shop.campaign(people, { audience });
    const runId = await shop.run(campaign);
    await shop.completed(campaign);
    for (const filter of [`run_id=${runId}`, `campaign_id=${campaign.id}`, `source_id=${campaign.id}`]) {
      const sends = await sendsOf(shop, filter);
      expect(sends).toHaveLength(4);
      for (const send of sends)
        expect(send).toMatchObject({
          source: 'campaign',
          source_id: campaign.id,
          campaign_id: campaign.id,
          run_id: runId,
          category: 'marketing',
          template_version: 1,
        });
    }
    expect(await sendsOf(shop, `campaign_id=${shop.id}`)).toEqual([]);
    expect(await sendsOf(shop, `campaign_id=${campaign.id}&state=failed`)).toEqual([]);
  });

  it('keeps to the version that was published when it began', async () => {
    const shop = world.organization();
    const people = world.people(3);
    const campaign = await shop.campaign(people, { paused: true });
    await shop.run(campaign);
    await shop.until(campaign, ({ last_run: run }) => run?.counts.pending === 3);
    const changed = await shop.api.patch(`/v1/messaging/templates/${campaign.template_id}`, {
      locales: { es: { subject: 'Otra', html: '<p>Otra</p>' } },
    });
    expectStatus(changed, 200);
    expectStatus(await shop.patch(campaign, { paused: false }), 200);
    await shop.completed(campaign);
    const [mail] = await world.messaging.mail.parsed(people[0]?.email ?? '');
    expect(mail?.subject).toBe('Hola Ana');
  });

  it('skips whom it cannot reach, each with a reason, and sends one address one mail', async () => {
    const shop = world.organization();
    const [first, twin, shouting, mute, odd, deleted, erased] = world.people(7);
    if (!first || !twin || !shouting || !mute || !odd || !deleted || !erased)
      throw new Error('seven are needed');
    twin.email = first.email;
    shouting.email = first.email.toUpperCase();
    Object.assign(mute, { email: null });
    odd.email = 'no address at all';
    deleted.state = 'deleted';
    erased.state = 'erased';
    const people = [first, twin, shouting, mute, odd, deleted, erased];
    const campaign = await shop.campaign([...people, { id: '018f2c4e-0000-7000-8000-000000000000' }]);
    const runId = await shop.run(campaign);
    const done = await shop.completed(campaign);
    expect(counted(done)).toEqual({ audience: 8, skipped: 7, sent: 1 });
    expect(done.last_run?.skipped_reasons).toEqual({
      duplicate_address: 2,
      recipient_unreachable: 2,
      invalid_address: 1,
      contact_deleted: 1,
      erased: 1,
    });
    expect(mailsTo([first])).toEqual([1]);
    expect(await world.recount(runId)).toEqual(counted(done));
  });

  it('reaches one who was merged meanwhile once, though both were in the audience', async () => {
    const shop = world.organization();
    const [gone, survivor] = world.people(2);
    if (!gone || !survivor) throw new Error('two are needed');
    Object.assign(gone, { state: 'merged', merged_into: survivor.id });
    const campaign = await shop.campaign([gone, survivor]);
    await shop.run(campaign);
    const done = await shop.completed(campaign);
    expect(counted(done)).toEqual({ audience: 2, skipped: 1, sent: 1 });
    expect(done.last_run?.skipped_reasons).toEqual({ duplicate_address: 1 });
    const [send] = await sendsOf(shop, `campaign_id=${campaign.id}`);
    expect(send?.contact_id).toBe(survivor.id);
    expect(mailsTo([survivor])).toEqual([1]);
  });

  it('passes the one gate: suppressions, caps and refusals count as what they are', async () => {
    const shop = world.organization();
    const people = world.people(3);
    const [suppressed, capped] = people;
    const settings = await shop.api.get<Record<string, unknown>>('/v1/messaging/channel-settings');
    const put = await shop.api.call('PUT', '/v1/messaging/channel-settings', {
      body: { channels: settings.body['channels'], caps: [{ channel: 'email', limit: 1, window: 'day' }] },
    });
    expectStatus(put, 200);
    const address = suppressed?.email ?? '';
    expectStatus(await shop.api.post('/v1/messaging/suppressions', { channel: 'email', address }), 201);
    const before = await shop.campaign([capped ?? { id: '' }]);
    await shop.run(before);
    await shop.completed(before);
    const campaign = await shop.campaign(people);
    const runId = await shop.run(campaign);
    const done = await shop.completed(campaign);
    expect(counted(done)).toEqual({ audience: 3, suppressed: 1, capped: 1, sent: 1 });
    expect(await world.recount(runId)).toEqual(counted(done));
  });

  it('runs anew when it is repeatable and completed, and only then', async () => {
    const shop = world.organization();
    const people = world.people(2);
    const campaign = await shop.campaign(people, { repeatable: true });
    const first = await shop.run(campaign);
    await shop.completed(campaign);
    const second = await shop.run(campaign);
    expect(second).not.toBe(first);
    await shop.completed(campaign);
    expect(mailsTo(people)).toEqual([2, 2]);
    expect(await sendsOf(shop, `campaign_id=${campaign.id}`)).toHaveLength(4);
    expect(await sendsOf(shop, `run_id=${second}`)).toHaveLength(2);
  });

  it('ends where its audience is deleted while it is gathered', async () => {
    const shop = world.organization();
    const people = world.people(8);
    const campaign = await shop.campaign(people);
    const stored = world.audiences.get(campaign.audience.id);
    if (!stored) throw new Error('there is no audience');
    stored.pagesLeft = 2;
    await shop.run(campaign);
    const ended = await shop.until(
      campaign,
      ({ state, last_run: run }) => state === 'canceled' && run?.counts.pending === 0,
    );
    expect(ended.last_run).toMatchObject({ state: 'canceled', reason: 'audience_deleted' });
    expect(addsUp(ended)).toBe(true);
    expect(mailsTo(people)).toEqual(people.map(() => 0));
  });

  it('waits while core is silent, and goes on where it was', async () => {
    const shop = world.organization();
    const people = world.people(7);
    const campaign = await shop.campaign(people);
    await shop.run(campaign);
    world.core.outage(true);
    await shop.until(campaign, ({ last_run: run }) => run?.state === 'gathering' || run?.state === 'running');
    world.core.outage(false);
    const done = await shop.completed(campaign);
    expect(counted(done)).toEqual({ audience: 7, sent: 7 });
  });
});

describe('a run that rests', () => {
  it('lets nothing leave, whatever of it was under way, and goes on', async () => {
    const shop = world.organization();
    const people = world.people(40);
    const campaign = await shop.campaign(people, { category: 'transactional' });
    world.pageSize = 40;
    await shop.run(campaign);
    await shop.until(campaign, ({ last_run: run }) => (run?.counts.sent ?? 0) > 0);
    const paused = await shop.patch(campaign, { paused: true });
    const answered = performance.now();
    expect(paused.body.state).toBe('paused');
    const resting = await shop.until(campaign, addsUp);
    expect(resting.last_run?.state).toBe('paused');
    const late = world.messaging.mail.begun.filter(
      ({ to, at }) => at > answered && people.some(({ email }) => email === to),
    );
    expect(late).toEqual([]);
    expectStatus(await shop.patch(campaign, { paused: false }), 200);
    world.pageSize = 3;
    expect(counted(await shop.completed(campaign))).toEqual({ audience: 40, sent: 40 });
    expect(mailsTo(people)).toEqual(people.map(() => 1));
  });

  it('holds what comes to the gate, and says why', async () => {
    const shop = world.organization();
    const people = world.people(2);
    const campaign = await shop.campaign(people);
    const runId = await shop.run(campaign);
    await shop.completed(campaign);
    // As if both had been on their way to the gate when the campaign was paused.
    await world.messaging.database.query(
      `UPDATE campaign_runs SET state = 'running', paused = true WHERE id = $1`,
      [runId],
    );
    await world.messaging.database.query(
      `UPDATE sends SET state = 'gated', due_at = now(), claim = NULL WHERE run_id = $1`,
      [runId],
    );
    await shop.until(campaign, ({ last_run: run }) => run?.counts.held === 2);
    const [send] = await sendsOf(shop, `run_id=${runId}`);
    expect(send).toMatchObject({ state: 'held', reason: 'campaign_paused', release_at: null });
    const steps = await history(shop.api, send?.id ?? '');
    expect(steps.at(-1)).toMatchObject({ state: 'held', reason: 'campaign_paused' });
    expect(mailsTo(people)).toEqual([1, 1]);
  });
});

describe('a run that is canceled', () => {
  it('calls off what waits: members and sends, and the counts say so', async () => {
    const shop = world.organization();
    const people = world.people(30);
    world.pageSize = 30;
    const campaign = await shop.campaign(people, { paused: true });
    const runId = await shop.run(campaign);
    await shop.until(campaign, ({ last_run: run }) => run?.counts.pending === 30);
    world.pageSize = 3;
    expectStatus(await shop.api.delete(`${CAMPAIGNS}/${campaign.id}`), 204);
    const ended = await shop.until(campaign, ({ last_run: run }) => run?.counts.pending === 0);
    expect(counted(ended)).toEqual({ audience: 30, skipped: 30 });
    expect(ended.last_run).toMatchObject({
      state: 'canceled',
      reason: 'campaign_canceled',
      skipped_reasons: { campaign_canceled: 30 },
    });
    expect(await world.recount(runId)).toEqual(counted(ended));
    expect(mailsTo(people)).toEqual(people.map(() => 0));
    expectStatus(await shop.api.delete(`${CAMPAIGNS}/${campaign.id}/purge`), 204);
    await shop.forgotten(runId);
  });

  it('is called off and forgotten where the planner knows of none of its many members', async () => {
    const { database } = world.messaging;
    const paused = async (): Promise<{ shop: CampaignShop; campaign: { id: string }; runId: string }> => {
      const shop = world.organization();
      const campaign = await shop.campaign(world.people(1), { paused: true });
      const runId = await shop.run(campaign);
      await shop.until(campaign, ({ last_run: run }) => run?.counts.pending === 1);
      return { shop, campaign, runId };
    };
    await database.query('ALTER TABLE campaign_members SET (autovacuum_enabled = false)');
    await paused();
    await database.query('ANALYZE campaign_members');
    const { shop, campaign, runId } = await paused();
    await database.query(
      `INSERT INTO campaign_members (organization_id, run_id, contact_id, state, look_at)
       SELECT $1, $2, gen_random_uuid(), 'pending', now() FROM generate_series(1, 30000)`,
      [shop.id, runId],
    );
    expectStatus(await shop.api.delete(`${CAMPAIGNS}/${campaign.id}`), 204);
    const ended = await shop.until(campaign, ({ last_run: run }) => run?.counts.pending === 0);
    expect(counted(ended)).toEqual({ audience: 30_001, skipped: 30_001 });
    expectStatus(await shop.api.delete(`${CAMPAIGNS}/${campaign.id}/purge`), 204);
    await shop.forgotten(runId);
  });

  it('lets nothing leave once the deletion is answered', async () => {
    const shop = world.organization();
    const people = world.people(60);
    world.pageSize = 60;
    const campaign = await shop.campaign(people);
    const runId = await shop.run(campaign);
    await shop.until(campaign, ({ last_run: run }) => (run?.counts.sent ?? 0) > 0);
    expectStatus(await shop.api.delete(`${CAMPAIGNS}/${campaign.id}`), 204);
    const answered = performance.now();
    world.pageSize = 3;
    const open = ['pending', 'accepted', 'rendering', 'gated', 'dispatching', 'held'] as const;
    const ended = await shop.until(campaign, ({ last_run: run }) =>
      open.every((kind) => run?.counts[kind] === 0),
    );
    expect(addsUp(ended)).toBe(true);
    expect(await world.recount(runId)).toEqual(counted(ended));
    const late = world.messaging.mail.begun.filter(
      ({ to, at }) => at > answered && people.some(({ email }) => email === to),
    );
    expect(late).toEqual([]);
    for (const send of await sendsOf(shop, `run_id=${runId}&state=canceled`))
      expect(send.reason).toBe('campaign_canceled');
  });
});

it('have their turns by tenant, in however many organizations one of them runs campaigns', async () => {
  const shop = world.organization();
  const campaign = await shop.campaign(world.people(1));
  await shop.run(campaign);
  await shop.completed(campaign);
  const ids = [newId(), newId(), newId(), newId()].sort();
  const tenant = newId();
  const [first = '', second = '', third = '', neighbour = ''] = ids;
  // Due tomorrow, and for nobody but the worker below before.
  await world.messaging.database.query(`
    BEGIN;
    SET LOCAL session_replication_role = replica;
    INSERT INTO campaign_runs
    SELECT (jsonb_populate_record(run, jsonb_build_object('organization_id', owner, 'id', gen_random_uuid(),
             'state', 'gathering', 'due_at', now() + interval '1 day', 'worked_at', '-infinity', 'claim', NULL,
             'ended_at', NULL))).*
      FROM campaign_runs AS run, unnest('{${ids.join()}}'::uuid[]) AS owner WHERE run.campaign_id = '${campaign.id}';
    COMMIT`);
  const { app } = world.messaging.app;
  const worker = new RunWorker(
    { ...app.get<MessagingConfig>(MESSAGING_CONFIG, { strict: false }), worker: false },
    app.get(Database, { strict: false }),
    app.get(AudienceSnapshot, { strict: false }),
    app.get(AudienceDispatch, { strict: false }),
    app.get(RunEnding, { strict: false }),
    app.get(CampaignRuns, { strict: false }),
    app.get(RunSignal, { strict: false }),
    { now: () => new Date(Date.now() + 2 * 86_400_000) },
    await tenantsOf({ [first]: tenant, [second]: tenant, [third]: tenant }),
  );
  const taken: string[] = [];
  for (let run = await worker['take'](() => undefined); run; run = await worker['take'](() => undefined))
    taken.push(run.organizationId);
  // Beside what others have left that rests until then.
  expect(taken.filter((id) => ids.includes(id))).toEqual([first, neighbour, second, third]);
});
