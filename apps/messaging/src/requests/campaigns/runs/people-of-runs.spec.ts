import { Database, newId } from '@customer-platform/database';
import { domainEvent, eventually, expectStatus, peerModule, type Answer } from '@customer-platform/testing';
import type { SubjectPage } from '@customer-platform/database';
import { ContactErasure } from '../../../contact-erasure.js';
import { addsUp, CampaignWorld, counted } from '../campaign.fixture.js';

let world: CampaignWorld;
beforeAll(async () => {
  world = await CampaignWorld.start({});
  world.messaging.probe.collect('messaging');
});
afterAll(() => world.close());

describe('an erasure of somebody in an audience', () => {
  it('takes the person out, before a message and after one, and the counts stay true', async () => {
    const shop = world.organization();
    const [waiting, reached, other] = world.people(3);
    if (!waiting || !reached || !other) throw new Error('three are needed');
    const first = await shop.campaign([reached]);
    const firstRun = await shop.run(first);
    await shop.completed(first);
    const second = await shop.campaign([waiting, reached, other], { paused: true });
    const secondRun = await shop.run(second);
    await shop.until(second, ({ last_run: run }) => run?.counts.pending === 3);
    const { app, database } = world.messaging;
    const erasure = app.app.get(ContactErasure, { strict: false });
    for (const { id } of [waiting, reached]) {
      const asked = domainEvent('core.erasure.requested.v1', shop.id, {
        subject_request_id: newId(),
        contact_id: id,
      });
      await erasure.stop(asked);
      await app.app
        .get(Database, { strict: false })
        .inOrganization({ organizationId: shop.id }, (tx) => erasure.erase(tx, [id], asked));
    }
    const rows = await database.query(
      'SELECT 1 FROM campaign_members WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])',
      [shop.id, [waiting.id, reached.id]],
    );
    expect(rows).toEqual([]);
    expect(counted(await shop.shown(first))).toEqual({ audience: 1, sent: 1 });
    const shown = await shop.shown(second);
    expect(counted(shown)).toEqual({ audience: 3, pending: 1, skipped: 2 });
    expect(shown.last_run?.skipped_reasons).toEqual({ erased: 2 });
    expectStatus(await shop.patch(second, { paused: false }), 200);
    const done = await shop.completed(second);
    expect(counted(done)).toEqual({ audience: 3, skipped: 2, sent: 1 });
    expect(await world.recount(secondRun)).toEqual(counted(done));
    expect(await world.recount(firstRun)).toEqual({ audience: 1, sent: 1 });
  });
});

describe('what is held of a person', () => {
  it('names the campaigns they were in, and what came of it', async () => {
    const shop = world.organization();
    const [person, other] = world.people(2);
    if (!person || !other) throw new Error('two are needed');
    const campaign = await shop.campaign([person, other]);
    const runId = await shop.run(campaign);
    await shop.completed(campaign);
    const core = await peerModule('core', 'messaging', world.messaging.app.internalUrl);
    const body = { organization_id: shop.id, contact_ids: [person.id], portable: false };
    const rows = new Map<string | null, string>();
    let after: object | undefined = {};
    while (after) {
      const answer: Answer<SubjectPage> = await core.post<SubjectPage>('/internal/subject-rows', {
        ...body,
        ...after,
      });
      expectStatus(answer, 200);
      const { resource, rows: some, next } = answer.body;
      if (resource !== null) rows.set(resource, some.join());
      after = next
        ? { after_resource: next.resource, after_contact_id: next.contact_id, after_place: next.place }
        : undefined;
    }
    expect(rows.get('campaign_members')).toContain(runId);
    expect(rows.get('campaign_members')?.match(/accepted/g)).toHaveLength(1);
  });
});

describe('a run in hours in which nobody is disturbed', () => {
  it('holds each message by the zone of its contact, and is under way until they have left', async () => {
    const shop = world.organization();
    const people = world.people(2, { timezone: 'America/Santiago' });
    const settings = await shop.api.get<Record<string, unknown>>('/v1/messaging/channel-settings');
    const now = new Date().toLocaleTimeString('en-GB', { timeZone: 'America/Santiago' });
    const hour = (by: number): string =>
      `${String((Number(now.slice(0, 2)) + by + 24) % 24).padStart(2, '0')}:00`;
    const quiet_hours = { start: hour(-2), end: hour(3), timezone: 'UTC' };
    const channels = settings.body['channels'];
    expectStatus(
      await shop.api.call('PUT', '/v1/messaging/channel-settings', { body: { channels, quiet_hours } }),
      200,
    );
    const campaign = await shop.campaign(people);
    await shop.run(campaign);
    const held = await shop.until(campaign, ({ last_run: run }) => run?.counts.held === 2);
    expect(held.state).toBe('running');
    expect(counted(held)).toEqual({ audience: 2, held: 2 });
    const transactional = await shop.campaign(people, { category: 'transactional' });
    await shop.run(transactional);
    expect(counted(await shop.completed(transactional))).toEqual({ audience: 2, sent: 2 });
  });
});

describe('what a campaign tells', () => {
  it('is of it as a whole: started, paused, completed; and of each send whose it is', async () => {
    const shop = world.organization();
    const campaign = await shop.campaign(world.people(3), { paused: true });
    const runId = await shop.run(campaign);
    expectStatus(await shop.patch(campaign, { paused: false }), 200);
    const done = await shop.completed(campaign);
    const { probe } = world.messaging;
    const [started] = await probe.expectEvents('messaging.campaign.started.v1', shop.id, 1);
    const [completed] = await probe.expectEvents('messaging.campaign.completed.v1', shop.id, 1);
    expect(started?.data).toMatchObject({ campaign_id: campaign.id, run_id: runId, counts: { audience: 0 } });
    expect(completed?.data).toEqual({
      campaign_id: campaign.id,
      run_id: runId,
      counts: done.last_run?.counts,
    });
    const sent = await probe.expectEvents('messaging.send.sent.v1', shop.id, 3);
    for (const { data } of sent) expect(data).toMatchObject({ campaign_id: campaign.id });

    const other = await shop.campaign(world.people(3), { paused: true });
    await shop.run(other);
    await shop.until(other, ({ last_run: run }) => run?.counts.pending === 3);
    expectStatus(await shop.patch(other, { paused: false }), 200);
    expectStatus(await shop.api.delete(`/v1/messaging/campaigns/${other.id}`), 204);
    await probe.expectEvents('messaging.campaign.canceled.v1', shop.id, 1);
    const ended = await eventually(async () => {
      const shown = await shop.shown(other);
      expect(shown.last_run?.counts.pending).toBe(0);
      return shown;
    });
    expect(addsUp(ended)).toBe(true);
  });
});
