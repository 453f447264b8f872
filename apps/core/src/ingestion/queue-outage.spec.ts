import { eventually, freePorts } from '@customer-platform/testing';
import { accepted, aTrack, startCore, type TestCore } from '../core.fixture.js';
import { ownBroker, type OwnBroker } from '../own-broker.fixture.js';

describe('ingestion without its queue', () => {
  let core: TestCore;
  beforeAll(async () => {
    const [nobodys] = await freePorts(1);
    core = await startCore({ KAFKA_BROKERS: `127.0.0.1:${String(nobodys)}` });
  });
  afterAll(() => core.close());

  it.each(['/v1/core/track', '/v1/core/batch'])(
    '%s: 503 queue_unavailable with Retry-After',
    async (path) => {
      const { caller } = core.anOrganization();
      const body = path.endsWith('batch') ? { events: [aTrack(), aTrack()] } : aTrack();
      const answer = await caller.post(path, body);
      expect(answer).toMatchObject({ status: 503, body: { code: 'queue_unavailable' } });
      expect(answer.headers.get('retry-after')).toBe('1');
    },
  );

  it('still judges, limits and refuses', async () => {
    const { caller } = core.anOrganization();
    expect(await caller.post('/v1/core/track', {})).toMatchObject({ status: 400 });
    expect(await core.app.with().post('/v1/core/track', aTrack())).toMatchObject({ status: 401 });
  });

  it('still answers usage, of what was counted so far', async () => {
    const { caller } = core.anOrganization();
    expect(await caller.get('/v1/core/usage')).toMatchObject({
      status: 200,
      body: { totals: { events: { accepted: 0 } } },
    });
  });
});

describe('ingestion while its queue is killed', () => {
  let broker: OwnBroker;
  let core: TestCore;
  beforeAll(async () => {
    broker = await ownBroker();
    await broker.start();
    core = await startCore({ KAFKA_BROKERS: broker.address });
  }, 120_000);
  afterAll(async () => {
    await core.close();
    await broker.remove();
  }, 60_000);

  it('answers 503, then 202 again, and every 202 is stored', async () => {
    const { caller } = core.anOrganization();
    const before = aTrack();
    await accepted(caller, before);
    await broker.kill();
    const during = aTrack();
    expect(await caller.post('/v1/core/track', during)).toMatchObject({
      status: 503,
      body: { code: 'queue_unavailable' },
    });
    await broker.start();
    await accepted(caller, during);
    await accepted(caller, aTrack());
    await eventually(
      async () => {
        const usage = await caller.get('/v1/core/usage');
        expect(usage.body).toMatchObject({ totals: { events: { stored: 3, pending: 0, dead_lettered: 0 } } });
      },
      { within: 60_000 },
    );
  }, 240_000);
});
