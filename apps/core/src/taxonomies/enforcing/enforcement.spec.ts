import { newId } from '@customer-platform/database';
import { TaxonomyCatalog } from '../taxonomy-catalog.js';
import type { Mode, Taxonomy } from '../taxonomy.js';
import { Enforcement } from './enforcement.js';

const SHOP: Taxonomy = {
  slug: 'shop',
  version: '1.0.0',
  shippedAt: '2026-01-01T00:00:00.000Z',
  events: [
    {
      name: 'sold',
      schema: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' } } },
      example: { sku: 'A' },
    },
  ],
};
const TILL: Taxonomy = {
  ...SHOP,
  slug: 'till',
  events: [
    {
      name: 'sold',
      schema: {
        type: 'object',
        required: ['sku', 'till'],
        properties: { sku: { type: 'string' }, till: { type: 'string' } },
      },
      example: { sku: 'A', till: 'B' },
    },
  ],
};

const catalog = new TaxonomyCatalog();
catalog.add(SHOP);
catalog.add(TILL);

type Installed = [Taxonomy, Mode, Record<string, Mode>?];
const enforcing = (...installed: Installed[]): Enforcement =>
  new Enforcement(
    catalog,
    installed.map(([{ slug, version }, mode, overrides = {}]) => ({
      organizationId: newId(),
      slug,
      version,
      mode,
      overrides,
    })),
  );
const pointers = (enforcement: Enforcement, least: 'warn' | 'strict', event = 'sold'): string[] =>
  enforcement.violations(event, {}, least).map(({ pointer }) => pointer);

describe('what taxonomies demand of an event', () => {
  it('is by mode, and by the mode of the event before that', () => {
    const sku = ['/properties/sku'];
    const demands = (mode: Mode, overrides: Record<string, Mode> = {}) => {
      const enforcement = enforcing([SHOP, mode, overrides]);
      return [pointers(enforcement, 'warn'), pointers(enforcement, 'strict')];
    };
    expect(demands('off')).toEqual([[], []]);
    expect(demands('warn')).toEqual([sku, []]);
    expect(demands('strict')).toEqual([sku, sku]);
    expect(demands('strict', { sold: 'off' })).toEqual([[], []]);
    expect(demands('off', { sold: 'strict' })).toEqual([sku, sku]);
    expect(demands('strict', { sold: 'warn' })).toEqual([sku, []]);
  });

  it('is nothing of an event that no taxonomy lists, or of a version that is not known here', () => {
    expect(pointers(enforcing([SHOP, 'strict']), 'warn', 'toString')).toEqual([]);
    expect(pointers(enforcing([{ ...SHOP, version: '9.0.0' }, 'strict']), 'warn')).toEqual([]);
  });

  it('is of each taxonomy by its own mode where two list the same name', () => {
    const both = enforcing([SHOP, 'strict'], [TILL, 'warn']);
    expect(pointers(both, 'strict')).toEqual(['/properties/sku']);
    expect(pointers(both, 'warn')).toEqual(['/properties/sku', '/properties/till']);
    expect(pointers(enforcing([SHOP, 'warn'], [TILL, 'strict']), 'strict')).toEqual([
      '/properties/sku',
      '/properties/till',
    ]);
    expect(pointers(enforcing([SHOP, 'off'], [TILL, 'strict', { sold: 'off' }]), 'warn')).toEqual([]);
  });
});
