import { newId, type AudiencePage } from '@customer-platform/database';
import {
  expectProblem,
  expectStatus,
  peerModule,
  type Answer,
  type Caller,
} from '@customer-platform/testing';
import { SEGMENTS, SegmentWorld } from '../segment.fixture.js';

const AUDIENCE = '/internal/audience';

let world: SegmentWorld;
let messaging: Caller;
beforeAll(async () => {
  world = await SegmentWorld.start();
  messaging = await peerModule('messaging', 'core', world.core.app.internalUrl);
}, 60_000);
afterAll(() => world.close());

const rule = { attribute: 'country', op: 'eq', value: 'CL' };

/** A segment with this many members, and one who is not. */
async function members(count: number) {
  const { id, caller } = world.anOrganization();
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const { body } = await caller.post<{ id: string }>('/v1/core/contacts', {
      external_id: newId(),
      country: 'CL',
    });
    ids.push(body.id);
  }
  expectStatus(await caller.post('/v1/core/contacts', { external_id: newId(), country: 'PE' }), 201);
  const segment = await world.segment(caller, rule);
  return { organizationId: id, caller, segment, contactIds: ids };
}

async function walked(body: Record<string, unknown>): Promise<string[]> {
  const found: string[] = [];
  let after: object | undefined = {};
  while (after) {
    const answer: Answer<AudiencePage> = await messaging.post<AudiencePage>(`${AUDIENCE}/members`, {
      ...body,
      ...after,
    });
    expectStatus(answer, 200);
    found.push(...answer.body.contact_ids);
    const { next } = answer.body;
    after = next ? { after_at: next.at, after_id: next.id } : undefined;
  }
  return found;
}

describe('POST /internal/audience', () => {
  it('says what a segment is like, and of which there is none', async () => {
    const { organizationId, caller, segment } = await members(2);
    const body = { organization_id: organizationId, id: segment.id };
    const found = { deleted: false, ready: true, member_count: 2 };
    expect((await messaging.post(AUDIENCE, body)).body).toEqual(found);
    expectProblem(await messaging.post(AUDIENCE, { ...body, id: newId() }), 404, 'not_found');
    expectProblem(await messaging.post(AUDIENCE, { ...body, organization_id: newId() }), 404, 'not_found');
    expectStatus(await caller.delete(`${SEGMENTS}/${segment.id}`), 204);
    expect((await messaging.post(AUDIENCE, body)).body).toMatchObject({ deleted: true });
  });

  it('answers messaging alone', async () => {
    const body = { organization_id: newId(), id: newId() };
    const crm = await peerModule('crm', 'core', world.core.app.internalUrl);
    expectProblem(await crm.post(AUDIENCE, body), 403, 'permission_denied');
    const page = { ...body, until: new Date().toISOString(), limit: 1 };
    expectProblem(await crm.post(`${AUDIENCE}/members`, page), 403, 'permission_denied');
  });
});

describe('POST /internal/audience/members', () => {
  it('gives each member once, page by page, who was there at the instant', async () => {
    const { organizationId, segment, contactIds } = await members(7);
    const body = { organization_id: organizationId, id: segment.id, until: world.now(), limit: 3 };
    expect((await walked(body)).sort()).toEqual([...contactIds].sort());
    expect(await walked({ ...body, until: '2020-01-01T00:00:00.000Z' })).toEqual([]);
  });

  it('404 for a segment that is deleted, of another organization, or none', async () => {
    const { organizationId, caller, segment } = await members(1);
    const body = { organization_id: organizationId, id: segment.id, until: world.now(), limit: 3 };
    const ask = (other: object) => messaging.post(`${AUDIENCE}/members`, { ...body, ...other });
    expectProblem(await ask({ organization_id: newId() }), 404, 'not_found');
    expectProblem(await ask({ id: newId() }), 404, 'not_found');
    expectProblem(await ask({ limit: 5_001 }), 400, 'validation_failed');
    expectStatus(await caller.delete(`${SEGMENTS}/${segment.id}`), 204);
    expectProblem(await ask({}), 404, 'not_found');
  });
});

describe('DELETE /v1/core/segments/{id}/purge', () => {
  it('409 while a campaign is aimed at it', async () => {
    const { caller, segment } = await members(0);
    expectStatus(await caller.delete(`${SEGMENTS}/${segment.id}`), 204);
    world.campaigns(2);
    const refused = await caller.delete(`${SEGMENTS}/${segment.id}/purge`);
    expect(expectProblem(refused, 409, 'resource_referenced')['references']).toEqual([
      { module: 'messaging', resource: 'campaigns', count: 2 },
    ]);
    world.campaigns(0);
    expectStatus(await caller.delete(`${SEGMENTS}/${segment.id}/purge`), 204);
  });
});
