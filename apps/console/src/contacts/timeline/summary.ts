import type { Item } from './chains.ts';

/** Properties in which events tell how much something came to, the first that is there. */
const AMOUNTS = ['amount', 'total', 'value', 'price', 'revenue'];
/** Ends of names of properties by which people know a thing: `invoice_id`, `order_number`. */
const NAMES = /(?:^|_)(?:id|number|code|reference|sku|name|plan|folio)$/i;
const MOST_NAMES = 2;
const LONGEST = 40;

/**
 * Says in a few words what an event was about: `12.990 CLP, B-1001`. Empty where it tells nothing of that kind.
 * @param number writes a number as the page's language does
 */
export function summaryOf(item: Item, number: (value: number) => string): string {
  if (item.type !== 'event') return '';
  const told: Record<string, unknown> = item.data.properties ?? {};
  const name = AMOUNTS.find((each) => typeof told[each] === 'number');
  const amount = name === undefined ? undefined : (told[name] as number);
  const currency = typeof told['currency'] === 'string' ? ` ${told['currency'].slice(0, LONGEST)}` : '';
  const named = Object.entries(told)
    .filter(([key, value]) => NAMES.test(key) && (typeof value === 'string' || typeof value === 'number'))
    .map(([, value]) => String(value).slice(0, LONGEST))
    .slice(0, MOST_NAMES);
  return [...(amount === undefined ? [] : [`${number(amount)}${currency}`]), ...named].join(', ');
}
