import { eventually } from '@customer-platform/testing';
import { aTrack, startCore, type TestCore } from '../core.fixture.js';

describe('an accepted event', () => {
  let core: TestCore;
  beforeAll(async () => {
    core = await startCore();
  });
  afterAll(() => core.close());

  it('is stored on a contact', async () => {
    const { id, caller } = core.anOrganization();
    const answer = await caller.post<{ event_id: string }>('/v1/core/track', aTrack({ external_id: 'ana' }));
    expect(answer).toMatchObject({ status: 202, body: { event_id: expect.any(String) } });
    expect(answer.headers.get('x-correlation-id')).toBe(answer.body.event_id);
    await eventually(async () => {
      const rows = await core.database.query('SELECT * FROM events WHERE organization_id = $1', [id]);
      expect(rows).toHaveLength(1);
    });
  });
});
