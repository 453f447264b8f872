import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  FIELD_TYPES,
  filterFields,
  nameOfRecord,
  openFields,
  valueFiltersIn,
  type ObjectField,
  type ObjectRecord,
} from './object.ts';

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
});
