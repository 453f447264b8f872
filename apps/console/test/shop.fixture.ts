import type { ConsoleBench } from './console.fixture.js';

/** What a shop tells of a purchase. */
export const EVENT = 'purchase_completed';

/** What an administrator sets up once: a rule that earns, a template, the route that sends it, and a segment. */
export async function prepareShop(bench: ConsoleBench): Promise<void> {
  await bench.made('/v1/loyalty/rules', {
    name: 'A point per 1,000 CLP',
    event: EVENT,
    formula: { type: 'per_amount', currency: 'CLP', per: 1000, points: 1 },
  });
  const template_id = await bench.made('/v1/messaging/templates', {
    name: 'Receipt',
    channel: 'email',
    default_locale: 'en',
    locales: { en: { subject: 'Receipt {{ event.properties.invoice_id }}', html: '<p>Thanks.</p>' } },
  });
  await bench.made('/v1/messaging/event-routing', {
    name: 'Receipts',
    event_type: 'core.event.recorded',
    event_name: EVENT,
    channel: 'email',
    category: 'transactional',
    template_id,
  });
  await bench.made('/v1/core/segments', {
    name: 'Buyers',
    rule: { event: EVENT, count: { op: 'gte', value: 1 } },
  });
}

/** Earns twelve points and sends a receipt, once the shop is prepared. */
export function purchase(bench: ConsoleBench, externalId: string): Promise<void> {
  return bench.track(EVENT, externalId, { amount: 12_990, currency: 'CLP', invoice_id: 'B-1001' });
}
