import { newId } from '@customer-platform/database';
import { eventually, type Caller } from '@customer-platform/testing';
import { accepted, aTrack, anIdentify, CORE_PERMISSIONS, startCore, type TestCore } from '../core.fixture.js';

interface ProblemBody {
  code: string;
  errors: Record<string, unknown>[];
  scope?: string;
}

const hour = 3_600_000;
const fromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();

describe('several events', () => {
  let core: TestCore;
  let caller: Caller;
  beforeAll(async () => {
    core = await startCore();
    ({ caller } = core.anOrganization());
    await accepted(caller, aTrack());
  });
  afterAll(() => core.close());

  const refused = async (path: string, body: unknown) => {
    const answer = await caller.post<ProblemBody>(path, body);
    return { status: answer.status, code: answer.body.code, errors: answer.body.errors };
  };

  describe('the rate limit', () => {
    const limited = (settings: object) =>
      core.anOrganization(CORE_PERMISSIONS, { rate_limits: settings }).caller;

    it('429 of the key with Retry-After, headers and scope', async () => {
      const slow = limited({ key_per_second: 1, organization_per_second: 100 });
      await accepted(slow, aTrack());
      await accepted(slow, aTrack());
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => slow.post<ProblemBody>('/v1/core/track', aTrack())),
      );
      const refusal = answers.find(({ status }) => status === 429);
      expect(refusal?.body).toMatchObject({ code: 'rate_limited', scope: 'key' });
      expect(refusal?.headers.get('retry-after')).toBe('1');
      expect(refusal?.headers.get('ratelimit-policy')).toBe('"key";q=2;w=2, "organization";q=200;w=2');
      expect(refusal?.headers.get('ratelimit')).toMatch(/^"key";r=0;t=2/);
    });

    it('429 of the organization, shared by its keys', async () => {
      const id = newId();
      const settings = { rate_limits: { key_per_second: 100, organization_per_second: 1 } };
      const keys = [1, 2].map(() => core.app.as(id, ['core.events.write'], settings));
      const answers = await Promise.all(
        [...keys, ...keys, ...keys, ...keys].map((key) => key.post<ProblemBody>('/v1/core/track', aTrack())),
      );
      const refusals = answers.filter((answer) => answer.status === 429);
      expect(refusals.length).toBeGreaterThan(0);
      for (const refusal of refusals) expect(refusal.body.scope).toBe('organization');
    });

    it('lets of a batch pass what fits, and tells the others to come again', async () => {
      const slow = limited({ key_per_second: 1, organization_per_second: 100 });
      const answer = await slow.post('/v1/core/batch', { events: [aTrack(), aTrack(), aTrack(), aTrack()] });
      expect(answer).toMatchObject({
        status: 202,
        body: {
          accepted: 2,
          rejected: 2,
          results: [
            { index: 0 },
            { index: 1 },
            { index: 2, code: 'rate_limited', retryable: true },
            { index: 3 },
          ],
        },
      });
      expect(answer.headers.get('retry-after')).toBe('1');
      // On a busy machine a second may pass between two calls, and one more fits.
      await eventually(async () =>
        expect(await slow.post('/v1/core/batch', { events: [aTrack(), aTrack(), aTrack()] })).toMatchObject({
          status: 429,
          body: { code: 'rate_limited', scope: 'key', errors: [{ index: 0, retryable: true }, {}, {}] },
        }),
      );
    });
  });

  describe('POST /v1/core/batch', () => {
    it('gives every item its verdict, in order', async () => {
      const reader = core.app.as(newId(), ['core.events.write']);
      const large = aTrack({ properties: { note: 'x'.repeat(33 * 1024) } });
      const deep = JSON.parse(`{"a":${'['.repeat(30)}${']'.repeat(30)}}`) as object;
      const events = [
        aTrack(),
        { type: 'track', ...aTrack() },
        { type: 'identify', ...anIdentify() },
        aTrack({ external_id: 'null' }),
        { ...aTrack(), unknown: 1 },
        large,
        aTrack({ properties: deep }),
        { type: 'alias', ...aTrack() },
        7,
        aTrack({ occurred_at: fromNow(2 * hour) }),
      ];
      const answer = await reader.post('/v1/core/batch', { events });
      expect(answer).toMatchObject({
        status: 202,
        body: {
          accepted: 2,
          rejected: 8,
          results: [
            { index: 0, event_id: expect.any(String) },
            { index: 1, event_id: expect.any(String) },
            { index: 2, code: 'permission_denied', retryable: false },
            { index: 3, code: 'placeholder_identifier', pointer: '/external_id' },
            { index: 4, code: 'validation_failed', pointer: '/unknown' },
            { index: 5, code: 'body_too_large', pointer: '' },
            { index: 6, code: 'validation_failed', pointer: expect.stringMatching(/^\/properties\/a/) },
            { index: 7, code: 'validation_failed', pointer: '/type' },
            { index: 8, code: 'validation_failed', pointer: '' },
            { index: 9, code: 'occurred_at_in_future', pointer: '/occurred_at', detail: expect.any(String) },
          ],
        },
      });
    });

    it('gives an item the id that it would have alone', async () => {
      const body = aTrack();
      const alone = await accepted(caller, body);
      const answer = await caller.post('/v1/core/batch', { events: [body] });
      expect(answer.body).toMatchObject({ results: [alone] });
    });

    it('400 with the verdicts in errors when all are bad', async () => {
      expect(
        await refused('/v1/core/batch', {
          events: [aTrack({ external_id: '0' }), aTrack({ external_id: 'nil' })],
        }),
      ).toMatchObject({
        status: 400,
        code: 'placeholder_identifier',
        errors: [{ index: 0 }, { index: 1 }],
      });
      expect(await refused('/v1/core/batch', { events: [aTrack({ external_id: '0' }), {}] })).toMatchObject({
        status: 400,
        code: 'validation_failed',
      });
      const reader = core.app.as(newId(), ['core.events.write']);
      expect(
        await reader.post('/v1/core/batch', { events: [{ type: 'identify', ...anIdentify() }] }),
      ).toMatchObject({
        status: 400,
        body: { code: 'validation_failed', errors: [{ code: 'permission_denied' }] },
      });
    });

    it.each([
      [{}, '/events', 'required'],
      [{ events: {} }, '/events', 'wrong_type'],
      [{ events: [] }, '/events', 'too_short'],
      [{ events: Array.from({ length: 501 }, () => 0) }, '/events', 'too_long'],
      [{ events: [0], more: 1 }, '/more', 'unknown_field'],
    ])('400 for a batch that is none (%#)', async (body, pointer, code) => {
      expect(await refused('/v1/core/batch', body)).toMatchObject({
        status: 400,
        errors: [{ pointer, code }],
      });
    });

    it('takes 500 events and 500 KiB, and no byte more', async () => {
      const many = await caller.post('/v1/core/batch', {
        events: Array.from({ length: 500 }, () => aTrack()),
      });
      expect(many).toMatchObject({ status: 202, body: { accepted: 500, rejected: 0 } });
      const padded = `{"events":[]${' '.repeat(500 * 1024 - 12)}}`;
      const answer = await caller.call('POST', '/v1/core/batch', { bytes: padded });
      expect(answer.status).toBe(413);
    });

    it('takes a byte order mark before the JSON', async () => {
      const bytes = `\ufeff${JSON.stringify({ events: [aTrack(), aTrack()] })}`;
      expect(await caller.call('POST', '/v1/core/batch', { bytes })).toMatchObject({
        status: 202,
        body: { accepted: 2, rejected: 0 },
      });
    });

    it('carries the correlation id of the request', async () => {
      const correlationId = newId();
      const answer = await caller.post(
        '/v1/core/batch',
        { events: [aTrack()] },
        { 'x-correlation-id': correlationId },
      );
      expect(answer.headers.get('x-correlation-id')).toBe(correlationId);
    });
  });
});
