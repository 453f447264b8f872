import { randomUUID } from 'node:crypto';
import { Clock, Database, Retention } from '@customer-platform/database';
import fc from 'fast-check';
import { history, send, settled, shown, type MessagingWorld } from '../../messaging.fixture.js';
import type { Provider } from '../../provider.fixture.js';
import { REPORTED_EVENTS, stateOf } from '../../providers/report.js';
import { OLD_REPORTS, UNKNOWN_REPORTS } from './old-reports.js';
import {
  aReport,
  genericHeaders,
  postRaw,
  standardHeaders,
  type ReportBody,
} from './signed-calls.fixture.js';
import {
  aPush,
  PLATFORM_SECRET,
  SECRET,
  sent,
  SETTINGS,
  suppressed,
  SUPPRESSIONS,
  webhookWorld,
  type Shop,
  type WebhookWorld,
} from './webhook-world.fixture.js';

let there: WebhookWorld;
let world: MessagingWorld;
let provider: Provider;
beforeAll(async () => {
  there = await webhookWorld();
  ({ world, provider } = there);
});
beforeEach(() => there.answerAll());
afterAll(() => there.close());

const aShop = (): Promise<Shop> => there.shop();
const report: WebhookWorld['report'] = (shop, given) => there.report(shop, given);

/** Forgets reports as the jobs do. */
async function forget(): Promise<void> {
  const { app } = world.app;
  for (const options of [UNKNOWN_REPORTS, OLD_REPORTS])
    await new Retention(app.get(Database, { strict: false }), new Clock(), options).sweep();
}

describe('POST /v1/messaging/webhooks/{provider}', () => {
  it.each([
    ['standard', standardHeaders],
    ['generic', genericHeaders],
  ])(
    '%s: missing, altered, truncated, re-serialised, of another key or stale is 401, and nothing changes',
    async (name, sign) => {
      const shop = await aShop();
      const { id, messageId } = await sent(shop.api, aPush());
      const body = JSON.stringify(aReport(messageId, 'delivered'));
      const url = shop.urls.push.replace('standard', name);
      const good = sign(SECRET, body);
      const [signature = ''] = Object.keys(good).filter((header) => header.endsWith('signature'));
      const cases: [string, string, Record<string, string>, string?][] = [
        ...Object.keys(good).map((header): [string, string, Record<string, string>] => {
          const { [header]: _left, ...others } = good;
          return [`no ${header}`, body, others];
        }),
        ['an altered byte', body.replace('delivered', 'deliverex'), good],
        ['a truncated body', body.slice(0, -1), good],
        ['re-serialised', JSON.stringify(JSON.parse(body), null, 1), good],
        ['a byte more', `${body}\n`, good],
        ['a truncated signature', body, { ...good, [signature]: good[signature]?.slice(0, -2) ?? '' }],
        ['another secret', body, sign(PLATFORM_SECRET, body)],
        ['the platform’s account', body, good, url.split('?')[0]],
        [
          'another organization’s key, altered',
          body,
          good,
          (await aShop()).urls.push
            .replace('standard', name)
            .replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
        ],
        ['a key that was made up', body, good, url.replace(/key=.*/, `key=${'A'.repeat(44)}`)],
        ['a key of a channel with another provider', body, good, shop.urls.sms.replace('twilio', name)],
      ];
      for (const [what, bytes, headers, at = url] of cases) {
        const answer = await postRaw(world, at, bytes, headers);
        expect([what, answer.status, answer.body.code]).toEqual([what, 401, 'invalid_signature']);
      }
      for (const off of [-301_000, 302_000]) {
        const answer = await postRaw(world, url, body, sign(SECRET, body, Date.now() + off));
        expect([off, answer.status, answer.body.code]).toEqual([off, 401, 'stale_signature']);
      }
      expect((await shown(shop.api, id)).state).toBe('sent');
      const stored = await world.database.query('SELECT 1 FROM provider_reports WHERE organization_id = $1', [
        shop.id,
      ]);
      expect(stored).toEqual([]);
      expect(await postRaw(world, url, body, good)).toEqual({ status: 200, body: { received: 1 } });
      expect((await shown(shop.api, id)).state).toBe('delivered');
    },
  );

  it('404 for a provider there is no adapter for, before and after any signature', async () => {
    const shop = await aShop();
    const answer = await postRaw(world, shop.urls.push.replace('standard', 'nobody'), '{}', {});
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  });

  it.each([
    ['no JSON', 'x', 'malformed_json'],
    ['nothing', '', 'malformed_json'],
    ['an unknown event', aReport('m', 'sneezed'), 'validation_failed'],
    [
      'a time without offset',
      aReport('m', 'opened', { occurred_at: '2026-11-21T10:00:00' }),
      'validation_failed',
    ],
    ['an unknown field', { ...aReport('m', 'opened'), provider_mesage_id: 'm' }, 'validation_failed'],
    ['no events', { events: [] }, 'validation_failed'],
    ['too many', { events: Array(501).fill(aReport('m', 'opened')) }, 'validation_failed'],
  ])('400 for %s, correctly signed', async (_what, given, code) => {
    const shop = await aShop();
    const body = typeof given === 'string' ? given : JSON.stringify(given);
    const answer = await postRaw(world, shop.urls.push, body, standardHeaders(SECRET, body));
    expect([answer.status, answer.body.code]).toEqual([400, code]);
  });

  it('takes a report once, however often and however parallel it comes', async () => {
    const shop = await aShop();
    const { id, messageId } = await sent(shop.api, aPush());
    const one = aReport(messageId, 'delivered', { provider_event_id: 'e-1' });
    const answers = await Promise.all(Array.from({ length: 46 }, () => report(shop, one)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await history(shop.api, id)).filter(({ state }) => state === 'delivered')).toHaveLength(1);
  });

  it('comes to the same state in whatever order events arrive, and however they are packed', async () => {
    const shop = await aShop();
    const kinds = REPORTED_EVENTS.filter((event) => event !== 'stopped');
    const ranks = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'];
    await fc.assert(
      fc.asyncProperty(
        fc
          .uniqueArray(fc.constantFrom(...kinds), { minLength: 1 })
          .chain((events) =>
            fc.tuple(
              fc.shuffledSubarray(events, { minLength: events.length }),
              fc.integer({ min: 1, max: 4 }),
            ),
          ),
        async ([events, packed]) => {
          const { id, messageId } = await sent(shop.api, aPush());
          const reports = events.map((event) => aReport(messageId, event, { bounce_type: 'soft' }));
          for (let from = 0; from < reports.length; from += packed) {
            const { status } = await report(shop, { events: reports.slice(from, from + packed) });
            expect(status).toBe(200);
          }
          const reached = events.flatMap((event) => stateOf(event) ?? []);
          const highest = ranks.findLast((state) => state === 'sent' || reached.some((one) => one === state));
          expect((await shown(shop.api, id)).state).toBe(highest);
          expect(await history(shop.api, id)).toHaveLength(5 + events.length);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('takes a time of a year that cannot be kept for that of its receipt, and the reports beside it', async () => {
    const shop = await aShop();
    const [one, two] = [await sent(shop.api, aPush()), await sent(shop.api, aPush())];
    const odd = ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-12:00'].map(
      (at, n) => aReport(one.messageId, 'deferred', { provider_event_id: `odd-${n}`, occurred_at: at }),
    );
    const events = [...odd, aReport(two.messageId, 'complained')];
    const body = JSON.stringify({ events });
    const answer = await postRaw(world, shop.urls.push, body, standardHeaders(SECRET, body));
    expect(answer).toEqual({ status: 200, body: { received: 4 } });
    expect((await shown(shop.api, two.id)).state).toBe('complained');
    const noted = (await history(shop.api, one.id)).slice(-3);
    for (const { occurred_at: at } of noted) expect(at).toMatch(/^2\d{3}-/);
  });

  it('notes a deferral without moving the send', async () => {
    const shop = await aShop();
    const { id, messageId } = await sent(shop.api, aPush());
    await report(
      shop,
      aReport(messageId, 'deferred', { provider_event_id: 'd-1', occurred_at: '2099-01-01T00:00:00+01:00' }),
    );
    expect((await shown(shop.api, id)).state).toBe('sent');
    expect((await history(shop.api, id)).at(-1)).toMatchObject({
      state: 'sent',
      reason: 'deferred',
      provider_event_id: 'd-1',
      occurred_at: '2098-12-31T23:00:00.000Z',
    });
  });

  it('of a send in doubt says what became of it', async () => {
    const shop = await aShop();
    provider.answer = () => null;
    const id = await send(shop.api, aPush());
    await settled(shop.api, id, 'unknown');
    expect((await report(shop, aReport(id, 'delivered'))).status).toBe(200);
    expect(await shown(shop.api, id)).toMatchObject({ state: 'delivered', reason: null, attempts: 1 });
  });

  it('waits for a send that is not known yet, and is forgotten after 72 hours', async () => {
    const shop = await aShop();
    const early = `early-${randomUUID()}`;
    expect((await report(shop, aReport(early, 'delivered'))).status).toBe(200);
    provider.answer = () => ({ status: 200, body: { provider_message_id: early } });
    const id = await send(shop.api, aPush());
    expect(await settled(shop.api, id, 'delivered')).toMatchObject({ provider_message_id: early });
    const [late, kept] = [`late-${randomUUID()}`, `kept-${randomUUID()}`];
    for (const [messageId, hours] of [
      [late, 73],
      [kept, 71],
    ] as const) {
      await report(shop, aReport(messageId, 'delivered'));
      await world.database.query(
        `UPDATE provider_reports SET received_at = now() - $2 * interval '1 hour' WHERE provider_message_id = $1`,
        [messageId, hours],
      );
    }
    await world.database.query(
      `INSERT INTO provider_reports (organization_id, provider, provider_message_id, event_key, event, occurred_at, received_at, applied_at)
       SELECT $1, 'generic', 'old-' || n, 'x', 'delivered', at, at, at
         FROM generate_series(1, 5001) AS n, (SELECT now() - interval '91 days' AS at) AS long_ago`,
      [shop.id],
    );
    await forget();
    const left = await world.database.query(
      'SELECT provider_message_id FROM provider_reports WHERE provider_message_id = ANY($1)',
      [[early, late, kept]],
    );
    const old = `SELECT 1 FROM provider_reports WHERE provider_message_id LIKE 'old-%' AND organization_id = $1`;
    expect(await world.database.query(old, [shop.id])).toEqual([]);
    expect(left.map((row) => row['provider_message_id']).sort()).toEqual([early, kept].sort());
  });

  it('leaves a send alone that belongs to another organization', async () => {
    const [mine, other] = [await aShop(), await aShop()];
    const { id, messageId } = await sent(mine.api, aPush());
    expect((await report(other, aReport(messageId, 'complained'))).status).toBe(200);
    expect((await shown(mine.api, id)).state).toBe('sent');
    expect([await suppressed(mine.api), await suppressed(other.api)]).toEqual([[], []]);
  });

  it.each([
    ['bounced', 'hard', 'invalid_token'],
    ['bounced', undefined, 'invalid_token'],
    ['complained', undefined, 'complaint'],
    ['stopped', undefined, 'stop_keyword'],
  ])('%s (%s) has suppressed when it is answered', async (event, bounce, reason) => {
    const shop = await aShop();
    const token = randomUUID();
    const { messageId } = await sent(shop.api, aPush(token));
    await report(shop, aReport(messageId, event, bounce ? { bounce_type: bounce } : {}));
    expect(await suppressed(shop.api)).toMatchObject([{ channel: 'push', address: token, reason }]);
    const again = await shop.api.post('/v1/messaging/sends', aPush(token), {
      'idempotency-key': randomUUID(),
    });
    expect(again).toMatchObject({ status: 422, body: { code: 'recipient_suppressed' } });
    const audit = await world.database.query(
      'SELECT actor_type, action FROM audit_entries WHERE organization_id = $1 AND action = $2',
      [shop.id, 'messaging.suppressions.create'],
    );
    expect(audit).toEqual([{ actor_type: 'system', action: 'messaging.suppressions.create' }]);
  });

  it('does not suppress again what a person has lifted since', async () => {
    const shop = await aShop();
    const token = randomUUID();
    const { messageId } = await sent(shop.api, aPush(token));
    const one = aReport(messageId, 'complained');
    await report(shop, one);
    expect((await shop.api.delete(`${SUPPRESSIONS}?channel=push&address=${token}`)).status).toBe(204);
    expect((await report(shop, one)).status).toBe(200);
    expect(await suppressed(shop.api)).toEqual([]);
  });

  it('suppresses at ten soft bounces within five days by their own times, reported in any order and at once', async () => {
    const shop = await aShop();
    const [worn, fine] = [randomUUID(), randomUUID()];
    const day = (n: number): string => new Date(Date.UTC(2026, 10, 1) + n * 86_400_000).toISOString();
    const soft = (messageId: string, n: number, occurred_at: string): ReportBody =>
      aReport(messageId, 'bounced', { bounce_type: 'soft', provider_event_id: `s-${n}`, occurred_at });
    const of = async (token: string): Promise<string> => (await sent(shop.api, aPush(token))).messageId;
    const [first, second] = [await of(worn), await of(fine)];
    // Ten within five days at once; ten of another over five days and a moment.
    await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        await report(shop, soft(first, n, day(5 - n * 0.5)));
        await report(shop, soft(second, n, day(n * (5.01 / 9))));
      }),
    );
    expect(await suppressed(shop.api)).toMatchObject([{ address: worn, reason: 'repeated_soft_bounce' }]);
    await report(shop, soft(second, 10, day(2.5)));
    expect(await suppressed(shop.api)).toHaveLength(2);
  });

  it('counts ten soft bounces only with the new one among them, however late it is reported', async () => {
    const shop = await aShop();
    const token = randomUUID();
    const { messageId } = await sent(shop.api, aPush(token));
    const soft = (n: number, day: number) =>
      report(
        shop,
        aReport(messageId, 'bounced', {
          bounce_type: 'soft',
          provider_event_id: `s-${n}`,
          occurred_at: new Date(Date.UTC(2026, 8, 1) + day * 86_400_000).toISOString(),
        }),
      );
    const lift = () => shop.api.delete(`${SUPPRESSIONS}?channel=push&address=${token}`);
    for (let n = 0; n < 10; n += 1) await soft(n, 10 + n * 0.5);
    expect(await suppressed(shop.api)).toHaveLength(1);
    expect((await lift()).status).toBe(204);
    await soft(10, 30);
    await soft(11, 5);
    expect(await suppressed(shop.api)).toEqual([]);
    // Known last, and in the middle of ten.
    await soft(12, 12);
    expect(await suppressed(shop.api)).toMatchObject([{ address: token, reason: 'repeated_soft_bounce' }]);
  });

  it('in the platform’s account finds the send of whoever sent it', async () => {
    const { api } = world.organization();
    const { id, messageId } = await sent(api, aPush());
    const mine = await aShop();
    const own = await sent(mine.api, aPush());
    const url = '/v1/messaging/webhooks/generic';
    const post = (messageId: string) => {
      const body = JSON.stringify(aReport(messageId, 'complained'));
      return postRaw(world, url, body, genericHeaders(PLATFORM_SECRET, body));
    };
    expect([(await post(messageId)).status, (await post(own.messageId)).status]).toEqual([200, 200]);
    expect((await shown(api, id)).state).toBe('complained');
    // What left by an organization's own account is not the platform's to report on.
    expect((await shown(mine.api, own.id)).state).toBe('sent');
    expect(await suppressed(api)).toHaveLength(1);
  });

  it('goes on for a channel that has been switched off', async () => {
    const shop = await aShop();
    const { id, messageId } = await sent(shop.api, aPush());
    const { body } = await shop.api.get<{ channels: { push: object } }>(SETTINGS);
    await shop.api.call('PUT', SETTINGS, {
      body: { channels: { push: { ...body.channels.push, enabled: false } } },
    });
    expect((await report(shop, aReport(messageId, 'delivered'))).status).toBe(200);
    expect((await shown(shop.api, id)).state).toBe('delivered');
  });
});
