import { newId, type AudiencePage } from '@customer-platform/database';
import {
  expectProblem,
  expectStatus,
  peerModule,
  type Answer,
  type Caller,
} from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import { LISTS, ListWorld } from '../lists.fixture.js';

const AUDIENCE = '/internal/audience';

let crm: TestCrm;
let messaging: Caller;
beforeAll(async () => {
  crm = await startCrm();
  messaging = await peerModule('messaging', 'crm', crm.app.internalUrl);
}, 60_000);
afterAll(() => crm.close());

async function members(count: number) {
  const world = new ListWorld(crm);
  const list = await world.list();
  const contactIds = count > 0 ? await world.contacts(count) : [];
  if (count > 0) expectStatus(await world.add(list, contactIds), 200);
  return { world, list, contactIds };
}

describe('POST /internal/audience', () => {
  it('says what a list is like, to messaging alone', async () => {
    const { world, list } = await members(2);
    const body = { organization_id: world.organizationId, id: list.id };
    expect((await messaging.post(AUDIENCE, body)).body).toEqual({
      deleted: false,
      ready: true,
      member_count: 2,
    });
    expectProblem(await messaging.post(AUDIENCE, { ...body, organization_id: newId() }), 404, 'not_found');
    expectProblem(await messaging.post(AUDIENCE, { ...body, id: newId() }), 404, 'not_found');
    const core = await peerModule('core', 'crm', crm.app.internalUrl);
    expectProblem(await core.post(AUDIENCE, body), 403, 'permission_denied');
    expectStatus(await world.caller.delete(`${LISTS}/${list.id}`), 204);
    expect((await messaging.post(AUDIENCE, body)).body).toMatchObject({ deleted: true });
  });
});

describe('POST /internal/audience/members', () => {
  it('gives each member once, page by page, who was there at the instant', async () => {
    const { world, list, contactIds } = await members(7);
    const until = new Date().toISOString();
    const body = { organization_id: world.organizationId, id: list.id, until, limit: 3 };
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
    expect(found.sort()).toEqual([...contactIds].sort());
    const before = await messaging.post(`${AUDIENCE}/members`, {
      ...body,
      until: '2020-01-01T00:00:00.000Z',
    });
    expect(before.body).toEqual({ contact_ids: [], next: null });
  });

  it('404 for a list that is deleted, of another organization, or none', async () => {
    const { world, list } = await members(0);
    const until = new Date().toISOString();
    const body = { organization_id: world.organizationId, id: list.id, until, limit: 3 };
    const ask = (other: object) => messaging.post(`${AUDIENCE}/members`, { ...body, ...other });
    expectProblem(await ask({ organization_id: newId() }), 404, 'not_found');
    expectProblem(await ask({ id: newId() }), 404, 'not_found');
    expectStatus(await world.caller.delete(`${LISTS}/${list.id}`), 204);
    expectProblem(await ask({}), 404, 'not_found');
  });
});
