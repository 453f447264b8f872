import { newId } from '@customer-platform/database';
import { expectProblem, expectStatus } from '@customer-platform/testing';
import { ALL_PERMISSIONS, template } from '../../../messaging.fixture.js';
import { CAMPAIGNS, CampaignShop, CampaignWorld, counted } from '../campaign.fixture.js';
import type { CampaignCheckDto } from './campaign-check.dto.js';
import { CHECKS_AT_ONCE } from './campaign-check.js';

const SETTINGS = '/v1/messaging/channel-settings';

let world: CampaignWorld;
beforeAll(async () => {
  world = await CampaignWorld.start();
});
afterAll(() => world.close());
afterEach(() => {
  world.beforeMembers = () => Promise.resolve();
});

const pathOf = ({ id }: { id: string }): string => `${CAMPAIGNS}/${id}/check`;

async function check(shop: CampaignShop, campaign: { id: string }): Promise<CampaignCheckDto> {
  const answer = await shop.api.post<CampaignCheckDto>(pathOf(campaign));
  expectStatus(answer, 200);
  return answer.body;
}

/** The settings of the organization's mail with something else, and beside others. */
async function settle(shop: CampaignShop, email: object, others: object = {}): Promise<void> {
  const { body } = await shop.api.get<{ channels: { email: object } }>(SETTINGS);
  const channels = { ...body.channels, email: { ...body.channels.email, ...email } };
  expectStatus(await shop.api.call('PUT', SETTINGS, { body: { channels, ...others } }), 200);
}

/** Holds the second page of members back. */
function holdSecondPage(): PromiseWithResolvers<void> {
  const held = Promise.withResolvers<void>();
  let asked = 0;
  world.beforeMembers = () => {
    asked += 1;
    return asked === 1 ? Promise.resolve() : held.promise;
  };
  return held;
}

describe('POST /v1/messaging/campaigns/{id}/check', () => {
  it('says what a run then comes to, member by member, and shows the message of one of them', async () => {
    const shop = world.organization();
    const caps = [{ channel: 'email', limit: 1, window: 'day' }];
    const topics = [{ key: 'news', name: 'News', channels: ['email'], default: false }];
    await settle(shop, {}, { caps, topics });
    const [first, twin, mute, odd, deleted, erased, gone, suppressed, capped] = world.people(9);
    if (!first || !twin || !mute || !odd || !deleted || !erased || !gone || !suppressed || !capped)
      throw new Error('nine are needed');
    twin.email = first.email.toUpperCase();
    Object.assign(mute, { email: null });
    odd.email = 'no address at all';
    deleted.state = 'deleted';
    erased.state = 'erased';
    Object.assign(gone, { state: 'merged', merged_into: first.id });
    const suppression = { channel: 'email', address: suppressed.email };
    expectStatus(await shop.api.post('/v1/messaging/suppressions', suppression), 201);
    const before = await shop.campaign([capped]);
    await shop.run(before);
    await shop.completed(before);
    const people = [first, twin, mute, odd, deleted, erased, gone, suppressed, capped, { id: newId() }];
    const template_id = await template(shop.api, {
      locales: { es: { subject: '{{ data.offer }} para {{ contact.first_name }}', html: '<p>Hola</p>' } },
    });
    const campaign = await shop.campaign(people, { template_id, data: { offer: 'Oferta' } });
    const { message, ...counts } = await check(shop, campaign);
    expect(counts).toEqual({
      complete: true,
      checked: 10,
      reachable: 1,
      waiting_reasons: {},
      excluded: 9,
      excluded_reasons: {
        duplicate_address: 2,
        recipient_unreachable: 2,
        invalid_address: 1,
        contact_deleted: 1,
        erased: 1,
        recipient_suppressed: 1,
        cap: 1,
      },
      message_problem: null,
    });
    expect(message).toMatchObject({ contact_id: first.id, locale: 'es', sms_segments: null });
    expect(message?.parts['subject']).toBe('Oferta para Ana');
    // Marketing has a way out of it, whose token is nobody's.
    expect(message?.parts['html']).toContain('/v1/messaging/unsubscribe?token=preview');
    await shop.run(campaign);
    const done = await shop.completed(campaign);
    expect(counted(done)).toEqual({ audience: 10, sent: 1, skipped: 7, suppressed: 1, capped: 1 });
    const { recipient_suppressed: _, cap: __, ...skipped } = counts.excluded_reasons;
    expect(done.last_run?.skipped_reasons).toEqual(skipped);
  });

  it('changes nothing: no send, no run, no place in a cap, nobody who is left out of it then', async () => {
    const shop = world.organization();
    await settle(shop, {}, { caps: [{ channel: 'email', limit: 1, window: 'week' }] });
    const people = world.people(4);
    const campaign = await shop.campaign(people);
    for (let again = 0; again < 2; again += 1)
      expect(await check(shop, campaign)).toMatchObject({ complete: true, reachable: 4, excluded: 0 });
    const rows = await world.messaging.database.query(
      `SELECT id::text FROM sends WHERE organization_id = $1
        UNION ALL SELECT id::text FROM campaign_runs WHERE organization_id = $1
        UNION ALL SELECT contact_id::text FROM cap_counters WHERE organization_id = $1`,
      [shop.id],
    );
    expect(rows).toEqual([]);
    expect(await shop.shown(campaign)).toMatchObject({ state: 'draft', last_run: null });
  });

  it('notes no maker of settings that were there before makers were', async () => {
    const shop = world.organization();
    await settle(shop, { host: 'localhost', username: 'shop', password: 'one' });
    await world.messaging.database.query(
      'UPDATE channel_settings SET maker_since = NULL WHERE organization_id = $1 AND maker_id IS NOT NULL',
      [shop.id],
    );
    expect(await check(shop, await shop.campaign(world.people(2)))).toMatchObject({ reachable: 2 });
    const [row] = await world.messaging.database.query(
      'SELECT maker_type, maker_since FROM channel_settings WHERE organization_id = $1',
      [shop.id],
    );
    expect(row).toEqual({ maker_type: 'api_key', maker_since: null });
  });

  it('says why no message is shown where nobody answers for the channel', async () => {
    const shop = world.organization();
    await settle(shop, { host: 'localhost', username: 'shop', password: 'one' });
    const campaign = await shop.campaign(world.people(2));
    await world.messaging.database.query(
      'UPDATE channel_settings SET maker_id = gen_random_uuid() WHERE organization_id = $1 AND maker_since IS NOT NULL',
      [shop.id],
    );
    expect(await check(shop, campaign)).toMatchObject({
      complete: true,
      reachable: 2,
      waiting_reasons: { not_permitted: 2 },
      message: null,
      message_problem: { code: 'not_permitted', detail: expect.any(String) as string },
    });
  });

  it('goes by consent, by topics that nobody gets unasked, and by what people chose', async () => {
    const shop = world.organization();
    const topics = [{ key: 'news', name: 'News', channels: ['email'], default: false }];
    await settle(shop, {}, { topics });
    const people = world.people(3);
    const unasked = await shop.campaign(people, { topic: 'news' });
    expect(await check(shop, unasked)).toMatchObject({
      reachable: 0,
      excluded_reasons: { preference: 3 },
      message: null,
      message_problem: null,
    });
    const campaign = await shop.campaign(people);
    expect(await check(shop, campaign)).toMatchObject({ reachable: 3 });
    await world.messaging.database.query(
      `INSERT INTO preferences (organization_id, subject, channel, topic, subscribed, updated_at)
       VALUES ($1, 'contact:' || $2, 'email', '', false, now())`,
      [shop.id, people[0]?.id],
    );
    expect(await check(shop, campaign)).toMatchObject({ reachable: 2, excluded_reasons: { preference: 1 } });
    await settle(shop, { consent_mode: 'opt_in' });
    expect(await check(shop, campaign)).toMatchObject({ reachable: 0, excluded_reasons: { no_consent: 3 } });
    // What is transactional asks for neither.
    const receipt = await shop.campaign(people, { category: 'transactional' });
    expect(await check(shop, receipt)).toMatchObject({ reachable: 3, excluded: 0 });
  });

  it('counts who waits for the end of quiet hours as reached, later, and not whom nothing reaches', async () => {
    const shop = world.organization();
    // All day but a minute, everywhere.
    const quiet_hours = { start: '12:01', end: '12:00', timezone: 'UTC' };
    await settle(shop, {}, { quiet_hours });
    const zones = ['UTC', 'Asia/Kolkata'].map((timezone) => world.people(1, { timezone })[0]);
    const [suppressed] = world.people(1);
    const suppression = { channel: 'email', address: suppressed?.email ?? '' };
    expectStatus(await shop.api.post('/v1/messaging/suppressions', suppression), 201);
    const people = [...zones, suppressed].map((one) => ({ id: one?.id ?? '' }));
    const checked = await check(shop, await shop.campaign(people));
    expect(checked).toMatchObject({ reachable: 2, excluded_reasons: { recipient_suppressed: 1 } });
    // It is noon in one of the zones at most.
    expect(checked.waiting_reasons['quiet_hours']).toBeGreaterThan(0);
    expect(checked.message?.parts['subject']).toBe('Hola Ana');
  });

  it('says why the message cannot be rendered, which every send would fail by', async () => {
    const shop = world.organization();
    const template_id = await template(shop.api, {
      locales: { es: { subject: 'Hola {{ data.nobody_gave_it }}', html: '<p>Hola</p>' } },
    });
    const campaign = await shop.campaign(world.people(2), { template_id });
    const checked = await check(shop, campaign);
    expect(checked).toMatchObject({
      reachable: 2,
      message: null,
      message_problem: { code: 'render_failed' },
    });
    expect(checked.message_problem?.detail).toContain('subject');
    await shop.run(campaign);
    expect(counted(await shop.completed(campaign))).toEqual({ audience: 2, failed: 2 });
  });

  it('counts the pieces of an SMS', async () => {
    const shop = world.organization();
    const url = 'https://hooks.example.com/sms';
    const { body } = await shop.api.get<{ channels: object }>(SETTINGS);
    const sms = {
      enabled: true,
      provider: 'http',
      from: 'Tienda',
      url,
      secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    };
    const channels = { ...body.channels, sms };
    expectStatus(await shop.api.call('PUT', SETTINGS, { body: { channels } }), 200);
    const locales = { es: { text: `Hola {{ contact.first_name }} ${'a'.repeat(200)}` } };
    const template_id = await template(shop.api, { channel: 'sms', locales });
    const people = world.people(2, { phone: '+56987654321' });
    const campaign = await shop.campaign(people, { channel: 'sms', template_id });
    const checked = await check(shop, campaign);
    expect(checked).toMatchObject({ reachable: 1, excluded_reasons: { duplicate_address: 1 } });
    expect(checked.message).toMatchObject({ sms_segments: 2 });
    expect(checked.message?.parts['text']).toMatch(/^Hola Ana a+$/);
  });

  it('answers with what it has counted where there was no time for all', async () => {
    const shop = world.organization();
    const people = world.people(7);
    const campaign = await shop.campaign(people);
    const held = holdSecondPage();
    const checked = await check(shop, campaign);
    held.resolve();
    expect(checked).toMatchObject({ complete: false, checked: 3, reachable: 3 });
    expect(checked.message?.contact_id).toBe(people[0]?.id);
  });

  it('is not complete where core does not say who a member is, and 503 where nobody says who is one', async () => {
    const shop = world.organization();
    const [known, unknown] = world.people(2);
    if (!known || !unknown) throw new Error('two are needed');
    expect(await check(shop, await shop.campaign([known]))).toMatchObject({ complete: true, checked: 1 });
    const audience = world.audience(shop.id, [known, unknown], 'list');
    const campaign = await shop.campaign([], { audience });
    world.core.outage(true);
    try {
      expect(await check(shop, campaign)).toMatchObject({ complete: false, checked: 1, reachable: 1 });
      world.crm.outage(true);
      expectProblem(await shop.api.post(pathOf(campaign)), 503, 'dependency_unavailable');
    } finally {
      world.core.outage(false);
      world.crm.outage(false);
    }
  });

  it('shows the message to who may read contacts alone, and counts for who may read the audience', async () => {
    const shop = world.organization();
    const campaign = await shop.campaign(world.people(2));
    const as = (...permissions: (typeof ALL_PERMISSIONS)[number][]) =>
      world.messaging.app.as(shop.id, permissions).post<CampaignCheckDto>(pathOf(campaign));
    const refused = expectProblem(await as('messaging.campaigns.run'), 403, 'permission_denied');
    expect(refused['permission']).toBe('core.segments.read');
    const counts = await as('messaging.campaigns.run', 'core.segments.read');
    expectStatus(counts, 200);
    expect(counts.body).toMatchObject({
      reachable: 2,
      message: null,
      message_problem: { code: 'permission_denied' },
    });
    const all = await as('messaging.campaigns.run', 'core.segments.read', 'core.contacts.read');
    expect(all.body.message?.parts['subject']).toBe('Hola Ana');
  });

  it('refuses what a run would refuse', async () => {
    const shop = world.organization();
    const other = world.organization();
    const campaign = await shop.campaign(world.people(1));
    expectProblem(await other.api.post(pathOf(campaign)), 404, 'not_found');
    expectProblem(await shop.api.post(`${CAMPAIGNS}/nobody/check`), 400, 'invalid_id');
    const stored = world.audiences.get(campaign.audience.id);
    if (!stored) throw new Error('there is no audience');
    stored.ready = false;
    expectProblem(await shop.api.post(pathOf(campaign)), 409, 'invalid_state');
    stored.ready = true;
    stored.deleted = true;
    expectProblem(await shop.api.post(pathOf(campaign)), 422, 'reference_deleted');
    stored.deleted = false;
    expectStatus(await shop.api.delete(`${CAMPAIGNS}/${campaign.id}`), 204);
    expectProblem(await shop.api.post(pathOf(campaign)), 409, 'resource_deleted');
  });

  it('is asked for a few at once, and has its place back', async () => {
    const shop = world.organization();
    const campaign = await shop.campaign(world.people(1));
    const held = Promise.withResolvers<void>();
    let reading = 0;
    const all = Promise.withResolvers<void>();
    world.beforeMembers = () => {
      reading += 1;
      if (reading === CHECKS_AT_ONCE.ofOrganization) all.resolve();
      return held.promise;
    };
    const under = Array.from({ length: CHECKS_AT_ONCE.ofOrganization }, () => check(shop, campaign));
    await all.promise;
    const refused = await shop.api.post(pathOf(campaign));
    held.resolve();
    expectProblem(refused, 429, 'rate_limited');
    await Promise.all(under);
    expect(await check(shop, campaign)).toMatchObject({ complete: true, reachable: 1 });
  });

  it('is asked for no more often by a tenant with many organizations, and by its neighbour all the same', async () => {
    const tenant = newId();
    const { app } = world.messaging;
    const child = async () => {
      const id = newId();
      const key = { organizationId: id, permissions: ALL_PERMISSIONS, tenant };
      const shop = new CampaignShop(world, { id, api: app.with(app.registry.key(key)) });
      return { shop, campaign: await shop.campaign(world.people(1)) };
    };
    const children = await Promise.all(Array.from({ length: CHECKS_AT_ONCE.ofTenant + 1 }, child));
    const neighbour = world.organization();
    const other = await neighbour.campaign(world.people(1));
    const held = Promise.withResolvers<void>();
    let reading = 0;
    const all = Promise.withResolvers<void>();
    world.beforeMembers = () => {
      reading += 1;
      if (reading === CHECKS_AT_ONCE.ofTenant) all.resolve();
      return held.promise;
    };
    const last = children.pop();
    if (!last) throw new Error('some are needed');
    const under = children.map(({ shop, campaign }) => check(shop, campaign));
    await all.promise;
    const refused = await last.shop.api.post(pathOf(last.campaign));
    const beside = check(neighbour, other);
    held.resolve();
    expectProblem(refused, 429, 'rate_limited');
    await Promise.all([...under, beside]);
  });
});
