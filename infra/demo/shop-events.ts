import type { EventLine } from './webhook-events.ts';

const PEOPLE = [
  ['Javiera', 'Rojas', 'es-CL'],
  ['Matías', 'Fuentes', 'es-CL'],
  ['Sofía', 'Castro', 'es-CL'],
  ['Benjamín', 'Soto', 'es-CL'],
  ['Isidora', 'Muñoz', 'es-CL'],
  ['Vicente', 'Araya', 'es-CL'],
  ['Emma', 'Wilson', 'en'],
  ['Lucas', 'Pereira', 'pt-BR'],
] as const;

const GOODS = [
  ['Café de grano 1 kg', 12_990],
  ['Prensa francesa', 24_990],
  ['Molinillo manual', 39_990],
  ['Filtros (100)', 3_490],
  ['Taza de gres', 8_990],
] as const;

/**
 * A morning in a coffee shop's web store: each person signs up, looks around and buys.
 *
 * The purchases end just before `now`, since points are for what happens from a rule's creation on.
 * `run` makes the keys of one morning its own; the same run twice is stored once.
 */
export function shopEvents(run: string, now: number): EventLine[] {
  return PEOPLE.flatMap(([first, last, locale], person) => {
    const id = `shop-${first.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()}`;
    const at = (minutesAgo: number): string => new Date(now - minutesAgo * 1000).toISOString();
    const key = (what: string): string => `${run}-${id}-${what}`;
    const [good, price] = GOODS[person % GOODS.length] as (typeof GOODS)[number];
    const signUp: EventLine = {
      type: 'identify',
      external_id: id,
      idempotency_key: key('signup'),
      occurred_at: at(9),
      traits: { first_name: first, last_name: last, email: `${id}@example.com`, locale, country: 'CL' },
    };
    const looked = { event: 'product_viewed', properties: { product: good, price } };
    const bought = {
      event: 'purchase_completed',
      properties: { amount: price, currency: 'CLP', invoice_id: `F-${run}-${person}`, product: good },
    };
    return [
      signUp,
      { ...looked, external_id: id, idempotency_key: key('viewed'), occurred_at: at(6) },
      { ...bought, external_id: id, idempotency_key: key('bought'), occurred_at: at(2) },
    ];
  });
}
