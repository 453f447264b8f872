import { renderTimeline } from './print-timeline.ts';
import { shopEvents } from './shop-events.ts';
import { webhookEvents } from './webhook-events.ts';

const LARGEST_EVENT = 32 * 1024;

it('maps every shipped webhook payload to an event that ingestion can take', () => {
  const events = webhookEvents();
  expect(events.length).toBeGreaterThan(300);
  expect(new Set(events.map(({ idempotency_key: key }) => key)).size).toBe(events.length);
  for (const event of events) {
    expect(event.external_id).toMatch(/^github-.+/);
    expect(event.occurred_at).toMatch(/Z$/);
    expect(Date.parse(event.occurred_at)).toBeLessThan(Date.now());
    expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(LARGEST_EVENT);
  }
});

it('gives each shopper a sign-up, a look and a purchase, in that order, none ahead of the clock', () => {
  const now = Date.UTC(2026, 10, 21);
  const events = shopEvents('run', now);
  expect(events).toHaveLength(24);
  for (let i = 0; i < events.length; i += 3) {
    const [signUp, looked, bought] = events.slice(i, i + 3).map(({ occurred_at: at }) => Date.parse(at)) as [
      number,
      number,
      number,
    ];
    expect(signUp < looked && looked < bought && bought < now).toBe(true);
  }
});

it('prints what one event led to beneath it', () => {
  const item = { occurred_at: '2026-11-21T09:30:00.000Z', correlation_id: 'c1' };
  const text = renderTimeline([
    { ...item, source: 'messaging', type: 'send', title: 'email, sent' },
    { ...item, source: 'core', type: 'event', title: 'purchase_completed' },
    { ...item, source: 'loyalty', type: 'transaction', title: 'earn, +12' },
  ]);
  expect(text.split('\n').slice(2)).toEqual([
    '  09:30:00  ● purchase_completed',
    '              └ ★ earn, +12',
    '              └ ✉ email, sent',
    '                correlation c1',
  ]);
});
