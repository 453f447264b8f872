import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  FIELD_TYPES,
  filterFields,
  knownFilters,
  knownSort,
  nameOfRecord,
  openFields,
  type ObjectField,
  type ObjectRecord,
} from './object.ts';
import { valueFiltersIn } from './value-filters.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');

function aField(over: Partial<ObjectField>): ObjectField {
  const plain = { required: false, unique: false, indexed: false, archived: false, index_state: null };
  return { key: 'plate', label: 'Plate', type: 'string', ...plain, ...over };
}

function aRecord(values: Record<string, unknown>): ObjectRecord {
  const at = '2026-11-26T10:00:00.000Z';
  return {
    id: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f',
    values,
    created_at: at,
    updated_at: at,
    deleted_at: null,
  };
}

describe.each(['en', 'es'])('the words in %s', (language) => {
  it('say all types', () => {
    const texts = JSON.parse(read(`messages.${language}.json`)) as { types: object };
    expect(Object.keys(texts.types).sort()).toEqual([...FIELD_TYPES].sort());
  });
});

describe('a definition', () => {
  const fields = [
    aField({ key: 'gone', archived: true, indexed: true, index_state: 'ready' }),
    aField({ key: 'plain' }),
    aField({ key: 'being_built', indexed: true, index_state: 'building' }),
    aField({ key: 'plate', indexed: true, index_state: 'ready' }),
  ];

  it('shows what is not archived, and filters by what is indexed by now', () => {
    expect(openFields({ fields }).map(({ key }) => key)).toEqual(['plain', 'being_built', 'plate']);
    expect(filterFields({ fields }).map(({ key }) => key)).toEqual(['plate']);
  });
});

describe('a record', () => {
  const fields = [
    aField({ key: 'year', type: 'integer' }),
    aField({ key: 'note' }),
    aField({ key: 'plate', unique: true }),
  ];

  it('is called by its unique text, else by another, else by its id', () => {
    expect(nameOfRecord({ fields }, aRecord({ year: 1, note: 'red', plate: 'KLMN45' }))).toBe('KLMN45');
    expect(nameOfRecord({ fields }, aRecord({ year: 1, note: 'red', plate: null }))).toBe('red');
    expect(nameOfRecord({ fields }, aRecord({ year: 1 }))).toBe('019a6f0e');
  });
});

describe('the filters of an address', () => {
  it('are those by values, whatever else stands there', () => {
    const search = {
      'values.year[gte]': 2020,
      'values.sold': true,
      'values.plate[prefix]': 'KL',
      'values.plate[in]': 'a',
      'values.PLATE': 'x',
      'values.empty': '',
      sort: '-values.year',
      open: 'new',
    };
    expect(valueFiltersIn(search)).toEqual({
      'values.year[gte]': '2020',
      'values.sold': 'true',
      'values.plate[prefix]': 'KL',
    });
  });

  const isReady = { indexed: true, index_state: 'ready' } as const;
  const fields = [
    aField({ key: 'plate', ...isReady }),
    aField({ key: 'year', type: 'integer', ...isReady }),
    aField({ key: 'price', type: 'number', ...isReady }),
    aField({ key: 'sold', type: 'boolean', ...isReady }),
    aField({ key: 'built', type: 'date', ...isReady }),
    aField({ key: 'seen', type: 'datetime', ...isReady }),
    aField({ key: 'owner', type: 'reference', target: 'contact', ...isReady }),
    aField({
      key: 'colour',
      type: 'enum',
      options: [{ value: 'red', label: 'Red', archived: false }],
      ...isReady,
    }),
    aField({ key: 'plain' }),
  ];

  it('are passed on as far as the list has them', () => {
    const known = {
      'values.plate[prefix]': 'KL',
      'values.year[gte]': '2020',
      'values.price[lte]': '1.5e3',
      'values.sold': 'false',
      'values.built': '2026-02-28',
      'values.seen[gte]': '2026-02-28T10:00:00.000Z',
      'values.owner': '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f',
      'values.colour': 'red',
    };
    expect(knownFilters({ fields }, known)).toEqual(known);
    const unknown = {
      'values.plate[gte]': 'KL',
      'values.year': '2020.5',
      'values.year[prefix]': '20',
      'values.price': 'cheap',
      'values.sold': 'maybe',
      'values.built': '2026-02-30',
      'values.seen[lte]': 'yesterday',
      'values.owner': 'nobody',
      'values.colour': 'blue',
      'values.plain': 'x',
      'values.nothing': 'x',
    };
    expect(knownFilters({ fields }, unknown)).toEqual({});
  });

  it('leave the order to the list where it has no such one', () => {
    for (const sort of ['-values.year', 'created_at', '-updated_at'])
      expect(knownSort({ fields }, { sort })).toBe(sort);
    for (const sort of ['values.plain', 'values.nothing', 'plate'])
      expect(knownSort({ fields }, { sort })).toBeUndefined();
  });
});
