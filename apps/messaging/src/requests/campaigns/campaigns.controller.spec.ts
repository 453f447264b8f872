import { newId } from '@customer-platform/database';
import { expectProblem, expectStatus, itBehavesLikeASoftDeletableResource } from '@customer-platform/testing';
import { ALL_PERMISSIONS, template } from '../../messaging.fixture.js';
import { aCampaign, CAMPAIGNS, CampaignWorld } from './campaign.fixture.js';
import type { CampaignDto } from './campaign.dto.js';

let world: CampaignWorld;
beforeAll(async () => {
  world = await CampaignWorld.start({ consume: false, env: { PROCESS_ROLE: 'api' } });
});
afterAll(() => world.close());

const templates = new Map<string, string>();
async function templateOf(organizationId: string): Promise<string> {
  const known = templates.get(organizationId);
  if (known !== undefined) return known;
  const api = world.messaging.app.as(organizationId, ['messaging.templates.create']);
  const made = await template(api);
  templates.set(organizationId, made);
  return made;
}

describe('campaigns', () => {
  itBehavesLikeASoftDeletableResource({
    app: () => world.messaging.app,
    path: CAMPAIGNS,
    permissions: {
      read: 'messaging.campaigns.read',
      create: 'messaging.campaigns.create',
      update: 'messaging.campaigns.update',
      delete: 'messaging.campaigns.delete',
      purge: 'messaging.campaigns.purge',
    },
    needsBeside: ['core.segments.read', 'core.contacts.read'],
    body: async (number, organizationId) => ({
      name: `Campaign ${String(number)}`,
      channel: 'email',
      template_id: await templateOf(organizationId),
      audience: world.audience(organizationId, []),
    }),
    patch: (number) => ({ data: { number } }),
    unique: 'name',
  });
});

describe('POST /v1/messaging/campaigns', () => {
  it('begins as a draft, with what it was not told', async () => {
    const shop = world.organization();
    const { state, category, topic, data, repeatable, paused, last_run } = await shop.campaign([]);
    expect({ state, category, topic, data, repeatable, paused, last_run }).toEqual({
      state: 'draft',
      category: 'marketing',
      topic: null,
      data: {},
      repeatable: false,
      paused: false,
      last_run: null,
    });
  });

  it('403 for whoever cannot read the audience, at creation, at another audience and at a run', async () => {
    const { id, api } = world.organization();
    const body = await aCampaign(api, world.audience(id, []));
    const list = world.audience(id, [], 'list');
    const without = (permission: string) =>
      world.messaging.app.as(
        id,
        ALL_PERMISSIONS.filter((each) => each !== permission),
      );
    const refused = expectProblem(
      await without('core.segments.read').post(CAMPAIGNS, body),
      403,
      'permission_denied',
    );
    expect(refused['permission']).toBe('core.segments.read');
    const made = await without('crm.lists.read').post<CampaignDto>(CAMPAIGNS, body);
    expectStatus(made, 201);
    const at = `${CAMPAIGNS}/${made.body.id}`;
    expectProblem(await without('crm.lists.read').patch(at, { audience: list }), 403, 'permission_denied');
    expectProblem(await without('core.segments.read').post(`${at}/run`), 403, 'permission_denied');
    expectStatus(await without('core.segments.read').patch(at, { name: 'Another' }), 200);
    expectStatus(await without('crm.lists.read').post(`${at}/run`), 202);
  });

  it('is aimed at nobody whom its writer may not see, whoever aims it elsewhere meanwhile', async () => {
    const { id, api } = world.organization();
    const [list, segment] = [world.audience(id, [], 'list'), world.audience(id, [])];
    const settings = (await api.get<object>('/v1/messaging/channel-settings')).body;
    const topics = [{ key: 'news', name: 'News', channels: ['email'], default: true }];
    const body = { ...settings, topics };
    expectStatus(await api.call('PUT', '/v1/messaging/channel-settings', { body }), 200);
    const made = await api.post<CampaignDto>(CAMPAIGNS, await aCampaign(api, list));
    const at = `${CAMPAIGNS}/${made.body.id}`;
    const writer = world.messaging.app.as(
      id,
      ALL_PERMISSIONS.filter((each) => each !== 'crm.lists.read'),
    );
    let asked = 0;
    world.beforeAudience = async () => {
      asked += 1;
      if (asked === 1) expectStatus(await api.patch(at, { audience: segment }), 200);
    };
    const answer = await writer.patch(at, { audience: list, topic: 'news' });
    world.beforeAudience = () => Promise.resolve();
    expectProblem(answer, 403, 'permission_denied');
    expect((await api.get<CampaignDto>(at)).body.audience).toEqual(segment);
  });

  it('refuses what it points to where that is not there, or not of its kind', async () => {
    const { id, api } = world.organization();
    const other = world.organization();
    const right = await aCampaign(api, world.audience(id, []));
    const gone = world.audience(id, []);
    const stored = world.audiences.get(gone.id);
    if (stored) stored.deleted = true;
    const sms = await template(api, { channel: 'sms', locales: { es: { text: 'Hola' } } });
    const draft = await template(api, { publish: false });
    const asking = await template(api, { variables: { code: { type: 'string', required: true } } });
    const deleted = await template(api);
    expectStatus(await api.delete(`/v1/messaging/templates/${deleted}`), 204);
    const refusals: [object, number, string, string][] = [
      [{ audience: { type: 'segment', id: newId() } }, 422, 'reference_not_found', '/audience/id'],
      [{ audience: world.audience(other.id, []) }, 422, 'reference_not_found', '/audience/id'],
      [{ audience: gone }, 422, 'reference_deleted', '/audience/id'],
      [{ audience: { type: 'people', id: newId() } }, 400, 'validation_failed', '/audience/type'],
      [{ template_id: newId() }, 422, 'reference_not_found', '/template_id'],
      [{ template_id: await template(other.api) }, 422, 'reference_not_found', '/template_id'],
      [{ template_id: deleted }, 422, 'reference_deleted', '/template_id'],
      [{ template_id: sms }, 400, 'validation_failed', '/template_id'],
      [{ template_id: draft }, 422, 'template_invalid', '/template_id'],
      [{ template_id: asking }, 400, 'validation_failed', '/data/code'],
      [{ topic: 'none' }, 400, 'validation_failed', '/topic'],
      [{ data: { text: 'x'.repeat(65_536) } }, 400, 'validation_failed', '/data'],
    ];
    for (const [wrong, status, code, pointer] of refusals) {
      const problem = expectProblem(await api.post(CAMPAIGNS, { ...right, ...wrong }), status, code);
      expect(problem.errors).toEqual([expect.objectContaining({ pointer })]);
    }
    const unconfigured = { ...right, channel: 'sms', template_id: sms };
    const without = await api.call('PUT', '/v1/messaging/channel-settings', { body: { channels: {} } });
    expectStatus(without, 200);
    expectProblem(await api.post(CAMPAIGNS, unconfigured), 422, 'channel_not_configured');
  });

  it('503 while core is silent, and nothing is made', async () => {
    const { id, api } = world.organization();
    const body = await aCampaign(api, world.audience(id, []));
    world.core.outage(true);
    expectProblem(await api.post(CAMPAIGNS, body), 503, 'dependency_unavailable');
    world.core.outage(false);
    expectStatus(await api.post(CAMPAIGNS, body), 201);
  });
});

describe('GET /v1/messaging/campaigns', () => {
  it('finds those that are named by their ids, deleted ones where they are asked for', async () => {
    const shop = world.organization();
    const [one, other] = [await shop.campaign([]), await shop.campaign([])];
    await shop.campaign([]);
    expectStatus(await shop.api.delete(`${CAMPAIGNS}/${other.id}`), 204);
    const found = async (query: string): Promise<string[]> => {
      const path = `${CAMPAIGNS}?id[in]=${one.id},${other.id},${newId()}${query}`;
      return (await shop.api.get<{ data: CampaignDto[] }>(path)).body.data.map(({ id }) => id);
    };
    expect(await found('')).toEqual([one.id]);
    expect((await found('&include_deleted=true')).sort()).toEqual([one.id, other.id].sort());
  });

  it('finds those whose name begins so, ignoring case', async () => {
    const shop = world.organization();
    const { id } = await shop.campaign([], { name: 'Navidad 2026' });
    await shop.campaign([], { name: 'Invierno' });
    const found = async (query: string): Promise<string[]> =>
      (await shop.api.get<{ data: CampaignDto[] }>(`${CAMPAIGNS}?${query}`)).body.data.map((each) => each.id);
    expect(await found('name[prefix]=nAVI')).toEqual([id]);
    expect(await found('name=navidad 2026')).toEqual([id]);
    expect(await found('name[prefix]=avidad')).toEqual([]);
  });
});

describe('POST /v1/messaging/campaigns/{id}/run', () => {
  it('answers the same run again, with a key and without', async () => {
    const shop = world.organization();
    const campaign = await shop.campaign([]);
    const headers = { 'Idempotency-Key': newId() };
    const first = await shop.api.post<{ run_id: string }>(
      `${CAMPAIGNS}/${campaign.id}/run`,
      undefined,
      headers,
    );
    expectStatus(first, 202);
    const again = await shop.api.post<{ run_id: string }>(
      `${CAMPAIGNS}/${campaign.id}/run`,
      undefined,
      headers,
    );
    expect(again.headers.get('idempotent-replay')).toBe('true');
    const answers = await Promise.all(Array.from({ length: 5 }, () => shop.run(campaign)));
    expect(new Set([first.body.run_id, again.body.run_id, ...answers]).size).toBe(1);
    expect(await shop.shown(campaign)).toMatchObject({
      state: 'running',
      last_run: { id: first.body.run_id, state: 'gathering', counts: { audience: 0 } },
    });
  });

  it('409 while a segment is still being built, 409 for a deleted campaign, 404 for none', async () => {
    const shop = world.organization();
    const campaign = await shop.campaign([]);
    const stored = world.audiences.get(campaign.audience.id);
    if (stored) stored.ready = false;
    const run = (id: string) => shop.api.post(`${CAMPAIGNS}/${id}/run`);
    expectProblem(await run(campaign.id), 409, 'invalid_state');
    expectStatus(await shop.api.delete(`${CAMPAIGNS}/${campaign.id}`), 204);
    expectProblem(await run(campaign.id), 409, 'resource_deleted');
    expectProblem(await run(newId()), 404, 'not_found');
    const foreign = world.organization();
    expectProblem(await foreign.api.post(`${CAMPAIGNS}/${campaign.id}/run`), 404, 'not_found');
  });

  it('asks for its own permission', async () => {
    const shop = world.organization();
    const campaign = await shop.campaign([]);
    const without = world.messaging.app.as(
      shop.id,
      ALL_PERMISSIONS.filter((each) => each !== 'messaging.campaigns.run'),
    );
    expectProblem(await without.post(`${CAMPAIGNS}/${campaign.id}/run`), 403, 'permission_denied');
    const only = world.messaging.app.as(shop.id, [
      'messaging.campaigns.run',
      'core.segments.read',
      'core.contacts.read',
    ]);
    expectStatus(await only.post(`${CAMPAIGNS}/${campaign.id}/run`), 202);
  });
});

describe('PATCH /v1/messaging/campaigns/{id}', () => {
  it('409 for anything but paused while it is under way; what changes nothing passes', async () => {
    const shop = world.organization();
    const campaign = await shop.campaign([], { data: { a: 1 } });
    await shop.run(campaign);
    for (const body of [
      { name: 'Another' },
      { data: { a: 2 } },
      { repeatable: true },
      { category: 'transactional' },
    ])
      expectProblem(await shop.patch(campaign, body), 409, 'invalid_state');
    expectStatus(await shop.patch(campaign, { name: campaign.name, data: { a: 1 } }), 200);
    expect((await shop.patch(campaign, { paused: true })).body).toMatchObject({
      paused: true,
      state: 'paused',
      last_run: { state: 'paused' },
    });
    expectProblem(await shop.patch(campaign, { name: 'Another' }), 409, 'invalid_state');
    expect((await shop.patch(campaign, { paused: false })).body).toMatchObject({
      paused: false,
      state: 'running',
    });
  });

  it('merges data, and checks what it then points to', async () => {
    const shop = world.organization();
    const campaign = await shop.campaign([], { data: { a: 1, b: 2 } });
    expect((await shop.patch(campaign, { data: { b: null, c: 3 } })).body.data).toEqual({ a: 1, c: 3 });
    const body = { audience: { type: 'list', id: newId() } };
    expectProblem(await shop.patch(campaign, body), 422, 'reference_not_found');
    const list = world.audience(shop.id, [], 'list');
    expect((await shop.patch(campaign, { audience: list })).body.audience).toEqual(list);
  });
});

describe('DELETE /v1/messaging/campaigns/{id}', () => {
  it('ends its run; restored it stays canceled, and asked to run it is that run', async () => {
    const shop = world.organization();
    const campaign = await shop.campaign([]);
    const runId = await shop.run(campaign);
    expectStatus(await shop.api.delete(`${CAMPAIGNS}/${campaign.id}`), 204);
    expect(await shop.shown(campaign)).toMatchObject({ state: 'canceled', last_run: { state: 'canceled' } });
    expectStatus(await shop.api.post(`${CAMPAIGNS}/${campaign.id}/restore`), 200);
    expect(await shop.run(campaign)).toBe(runId);
    expectProblem(await shop.patch(campaign, { paused: true }), 409, 'invalid_state');
  });
});

describe('what a campaign points to', () => {
  it('409 for the purge of its template, and counts for those of its audience', async () => {
    const shop = world.organization();
    const campaign = await shop.campaign([]);
    expectStatus(await shop.api.delete(`/v1/messaging/templates/${campaign.template_id}`), 204);
    const refused = await shop.api.delete(`/v1/messaging/templates/${campaign.template_id}/purge`);
    expect(expectProblem(refused, 409, 'resource_referenced')['references']).toEqual([
      { module: 'messaging', resource: 'campaigns', count: 1 },
    ]);
  });
});
