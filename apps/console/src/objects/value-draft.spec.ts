import type { ObjectField } from './object.ts';
import { changedIn, draftsOf, givenIn, valuesOf } from './value-draft.ts';

const field = (key: string, type: ObjectField['type'], archived = false): ObjectField => ({
  key,
  label: key,
  type,
  archived,
  required: false,
  unique: false,
  indexed: false,
  index_state: null,
});
const definition = {
  fields: [
    field('plate', 'string'),
    field('year', 'integer'),
    field('price', 'number'),
    field('sold', 'boolean'),
    field('bought_on', 'date'),
    field('gone', 'string', true),
  ],
};
const VALUES = { plate: 'KLMN45', year: 0, price: -1.5, sold: false, bought_on: '2026-02-28', gone: 'x' };

describe('the form of a record', () => {
  it('writes what was read, typed, and nothing of what is archived', () => {
    const { gone: _, ...shown } = VALUES;
    expect(valuesOf(definition, draftsOf(definition, VALUES))).toEqual(shown);
  });

  it('writes null where nothing is written', () => {
    const none = { plate: null, year: null, price: null, sold: null, bought_on: null };
    expect(draftsOf(definition, none)).toEqual({ plate: '', year: '', price: '', sold: '', bought_on: '' });
    expect(valuesOf(definition, {})).toEqual(none);
    expect(givenIn(none)).toEqual({});
  });

  it('sends what has changed alone', () => {
    const after = { ...VALUES, year: 2024, price: null };
    expect(changedIn(VALUES, after)).toEqual({ year: 2024, price: null });
    expect(changedIn({}, { plate: null })).toEqual({});
  });
});
