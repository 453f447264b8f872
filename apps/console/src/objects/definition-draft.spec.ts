import { bodyOfField, changeOf, draftOf, keyFor, newField } from './definition-draft.ts';
import type { ObjectDefinition, ObjectField } from './object.ts';

const AT = '2026-11-26T10:00:00.000Z';
const FLAGS = { required: true, unique: false, indexed: true, archived: false };
const FIELDS: ObjectField[] = [
  { ...FLAGS, key: 'plate', label: 'Plate', type: 'string', max_length: 10, index_state: 'ready' },
  {
    ...FLAGS,
    key: 'year',
    label: 'Year',
    type: 'integer',
    min: 1900,
    max: null,
    index_state: 'building',
    index_progress: { processed: 1, total: 2 },
  },
  { ...FLAGS, key: 'sold', label: 'Sold', type: 'boolean', index_state: 'ready' },
  {
    ...FLAGS,
    key: 'owner',
    label: 'Owner',
    type: 'reference',
    target: 'contact',
    on_erasure: 'clear',
    index_state: 'ready',
  },
  {
    ...FLAGS,
    key: 'garage',
    label: 'Garage',
    type: 'reference',
    target: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f',
    index_state: 'ready',
  },
  {
    ...FLAGS,
    key: 'colour',
    label: 'Colour',
    type: 'enum',
    options: [{ value: 'red', label: 'Red', archived: false }],
    index_state: 'ready',
  },
];
const DEFINITION: ObjectDefinition = {
  id: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e01',
  slug: 'vehicle',
  name: 'Vehicle',
  fields: FIELDS,
  record_count: 0,
  created_at: AT,
  updated_at: AT,
  deleted_at: null,
};

describe('the form of a definition', () => {
  it('writes what was stored where nobody touched it, without what the service alone says', () => {
    const written = FIELDS.map(({ index_state: _, index_progress: __, ...field }) => field);
    expect(changeOf(draftOf(DEFINITION))).toEqual({ name: 'Vehicle', fields: written });
  });

  it('writes of a field only what its type has', () => {
    const draft = { ...newField(), key: 'sold', label: 'Sold', type: 'boolean', min: '3' } as const;
    expect(Object.keys(bodyOfField(draft)).sort()).toEqual(
      ['archived', 'indexed', 'key', 'label', 'required', 'type', 'unique'].sort(),
    );
  });

  it('says that what is unique is indexed, and calls a field by its key where it has no name', () => {
    expect(bodyOfField({ ...newField(), key: 'plate', unique: true })).toMatchObject({
      indexed: true,
      label: 'plate',
      max_length: 255,
    });
  });
});

it.each([
  ['Año de fábrica', 'ano_de_fabrica'],
  ['  2º dueño!', 'dueno'],
  ['Plate', 'plate'],
  ['***', ''],
  ['a'.repeat(60), 'a'.repeat(40)],
])('the key of %s is %s', (label, key) => {
  expect(keyFor(label)).toBe(key);
});
