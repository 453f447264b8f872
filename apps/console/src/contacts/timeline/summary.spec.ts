import type { Item } from './chains.ts';
import { summaryOf } from './summary.ts';

const anEvent = (properties: object | null): Item =>
  ({ type: 'event', source: 'core', id: '1', data: { properties } }) as unknown as Item;
const number = (value: number): string => value.toLocaleString('es-CL', { useGrouping: 'always' });

it.each([
  [{ amount: 12_990, currency: 'CLP', invoice_id: 'B-1001' }, '12.990 CLP, B-1001'],
  [{ total: 5, order_number: 77 }, '5, 77'],
  [{ plan: 'pro', sku: 'A1', code: 'third', widths: [1] }, 'pro, A1'],
  [{ amount: 'a lot', currency: 'CLP' }, ''],
  [{ invoice_id: { nested: true }, page: '/home' }, ''],
  [{ invoice_id: 'x'.repeat(200) }, 'x'.repeat(40)],
  [{}, ''],
  [null, ''],
])('an event with %j is summed up as %j', (properties, expected) => {
  expect(summaryOf(anEvent(properties), number)).toBe(expected);
});
