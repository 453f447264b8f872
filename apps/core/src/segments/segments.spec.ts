import { eventually, expectStatus, kafkaProbe, type KafkaProbe } from '@customer-platform/testing';
import { accepted, aTrack, processing, startCore, START_MS, type TestCore } from '../core.fixture.js';
import { SEGMENTS, type Member } from './segment.fixture.js';
import type { SegmentDto } from './segment.dto.js';

let core: TestCore;
let probe: KafkaProbe;
beforeAll(async () => {
  core = await startCore();
  await processing(core);
  probe = kafkaProbe(core.app);
  probe.collect('core');
}, START_MS);
afterAll(() => core.close());

describe('segments in a running core', () => {
  it('follow an event, and the end of its window without any traffic, and tell of both', async () => {
    const { id: organizationId, caller } = core.anOrganization();
    const rule = { event: 'invoice_paid', within: 'PT1M' };
    const answer = await caller.post<SegmentDto>(SEGMENTS, { name: 'Just paid', rule });
    expectStatus(answer, 201);
    const path = `${SEGMENTS}/${answer.body.id}`;
    await eventually(async () => {
      const { body } = await caller.get<SegmentDto>(path);
      expect(body.state).toBe('ready');
    });
    const members = async (query = '') =>
      (await caller.get<{ data: Member[] }>(`${path}/members${query}`)).body.data;

    const occurredAt = Date.now() - 54_000;
    const sent = aTrack({ external_id: 'ana', occurred_at: new Date(occurredAt).toISOString() });
    const { event_id: eventId } = await accepted(caller, sent);
    await eventually(async () => {
      expect(await members()).toMatchObject([{ external_id: 'ana', cause: 'event' }]);
    });
    await eventually(
      async () => {
        expect(await members('?status=left')).toMatchObject([{ external_id: 'ana', left_cause: 'time' }]);
      },
      { within: 30_000 },
    );
    const [stay] = await members('?status=left');
    expect(Date.parse(stay?.left_at ?? '')).toBeGreaterThanOrEqual(occurredAt + 60_000);
    const [entered] = await probe.expectEvents('core.segment.entered.v1', organizationId, 1);
    expect(entered).toMatchObject({ correlationid: eventId, causationid: eventId });
    const [left] = await probe.expectEvents('core.segment.left.v1', organizationId, 1);
    expect(left?.data).toMatchObject({ segment_id: answer.body.id, cause: 'time' });
  });
});
