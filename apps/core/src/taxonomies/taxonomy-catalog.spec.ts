import { hash } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { canonicalJson } from '@customer-platform/http';
import { checkSchema } from './schemas/check-schema.js';
import { compileSchema } from './schemas/compile-schema.js';
import { DIALECT } from './schemas/event-schema.js';
import { SHIPPED, TaxonomyCatalog } from './taxonomy-catalog.js';
import { taxonomyIdOf } from './taxonomy.js';

/**
 * What was shipped, by the SHA-256 of its canonical JSON. A line here never changes: organizations enforce the version
 * that they have read, and what is to be otherwise is another version.
 */
const PUBLISHED: Readonly<Record<string, string>> = {
  'billing 1.0.0': '12be63e1c0bfb9a9bc41ffc7ff3051e881f6e36819dd88163232e8f2751da770',
  'ecommerce 1.0.0': '60699060c9d8f0b0190c107a8e326ade8b71417bf69a7766b612055f49e6b947',
  'saas 1.0.0': '56161ca091e117bf1b3b4c88b1d00222bf95d9565a67a01844f1b808a6bfbf52',
};

const events = SHIPPED.flatMap((taxonomy) =>
  taxonomy.events.map((event) => ({ taxonomy: `${taxonomy.slug} ${taxonomy.version}`, ...event })),
);

describe('the shipped taxonomies', () => {
  it('are these, each as it was published', () => {
    const shipped = SHIPPED.map((taxonomy) => [
      `${taxonomy.slug} ${taxonomy.version}`,
      hash('sha256', canonicalJson(taxonomy), 'hex'),
    ]);
    expect(Object.fromEntries(shipped)).toEqual(PUBLISHED);
    const newest = new TaxonomyCatalog().newest();
    expect(newest.map(({ slug }) => slug)).toEqual(['billing', 'ecommerce', 'saas']);
    expect(newest.find(({ slug }) => slug === 'ecommerce')?.events).toHaveLength(28);
  });

  it('list each event in one taxonomy, by a name in the past tense as events are called', () => {
    const slugs = new Map<string, Set<string>>();
    for (const { slug, events: listed } of SHIPPED)
      for (const { name } of listed) slugs.set(name, (slugs.get(name) ?? new Set()).add(slug));
    expect([...slugs].filter(([, of]) => of.size > 1)).toEqual([]);
    for (const name of slugs.keys()) expect(name).toMatch(/^[a-z]+(_[a-z]+)+$/);
    for (const { events: listed } of SHIPPED)
      expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length);
    expect([...slugs.keys()]).toEqual(
      expect.arrayContaining(['purchase_completed', 'invoice_paid', 'product_viewed']),
    );
  });

  it('are known to each organization by ids of its own', () => {
    const catalog = new TaxonomyCatalog();
    const [mine, other] = [newId(), newId()];
    for (const taxonomy of SHIPPED) {
      const id = taxonomyIdOf(mine, taxonomy);
      expect(catalog.get(mine, id)).toBe(taxonomy);
      expect(catalog.get(other, id)).toBeUndefined();
    }
  });
});

describe('compiled schemas', () => {
  it('are compiled once, and five hundred are kept', () => {
    const catalog = new TaxonomyCatalog();
    const many = {
      slug: 'many',
      version: '1.0.0',
      shippedAt: '2026-01-01T00:00:00.000Z',
      events: Array.from({ length: 501 }, (_, at) => ({
        name: `event_${String(at)}`,
        schema: { type: 'object' } as const,
        example: {},
      })),
    };
    catalog.add(many);
    const first = catalog.schemaOf(many, 'event_0');
    for (const { name } of many.events.slice(1, 500)) catalog.schemaOf(many, name);
    expect(catalog.schemaOf({ slug: 'many', version: '1.0.0' }, 'event_0')).toBe(first);
    catalog.schemaOf(many, 'event_500');
    expect(catalog.schemaOf(many, 'event_0')).not.toBe(first);
    expect(catalog.schemaOf(many, 'event_501')).toBeUndefined();
  });
});

describe.each(events)('$name of $taxonomy', ({ schema, example, name }) => {
  it('has a schema within the limits, whose example holds it', () => {
    checkSchema(schema);
    expect(schema).toMatchObject({ $schema: DIALECT, title: name, type: 'object' });
    expect(schema.description).toMatch(/\.$/);
    expect(compileSchema(schema).violations(example)).toEqual([]);
    const described = Object.keys(schema.properties ?? {});
    expect(described).toEqual(expect.arrayContaining(Object.keys(example)));
    expect(described).toEqual(expect.arrayContaining([...(schema.required ?? [])]));
  });

  it('takes properties that it does not describe, and none that are broken', () => {
    const { violations } = compileSchema(schema);
    expect(violations({ ...example, something_else: [1] })).toEqual([]);
    for (const property of Object.keys(example))
      expect(violations({ ...example, [property]: [[]] })[0]?.pointer).toMatch(`/properties/${property}`);
    for (const property of schema.required ?? []) {
      const { [property]: _left, ...rest } = example;
      expect(violations(rest).map(({ pointer }) => pointer)).toEqual([`/properties/${property}`]);
    }
  });
});
