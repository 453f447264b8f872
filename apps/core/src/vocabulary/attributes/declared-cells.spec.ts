import { readCell, type NumberForm } from './declared-cells.js';
import type { Declaration, DeclaredType } from './declaration.js';

function read(type: DeclaredType, cell: string, form: NumberForm = 'dot'): unknown {
  const declaration: Declaration = { type, enum: null, max_length: null, min: null, max: null };
  const outcome = readCell(declaration, cell, form);
  return 'value' in outcome ? outcome.value : outcome.code;
}

describe('readCell', () => {
  it.each([
    ['number', '-0.50', -0.5],
    ['number', ' 42 ', 42],
    ['integer', '-7', -7],
    ['boolean', 'TRUE', true],
    ['boolean', 'Sí', true],
    ['boolean', 'si\u0301', true],
    ['boolean', 'FALSO', false],
    ['boolean', '0', false],
    ['boolean', 'No', false],
    ['date', '2026-02-28', '2026-02-28'],
    ['datetime', '2026-02-28T09:00:00-03:00', '2026-02-28T12:00:00.000Z'],
    ['string_list', 'red | blue||green', ['red', 'blue', 'green']],
    ['string_list', 'a, b', ['a, b']],
    ['string', ' 007 ', ' 007 '],
  ] as const)('reads as %s the cell "%s"', (type, cell, value) => {
    expect(read(type, cell)).toEqual(value);
  });

  it.each([
    ['1.234,50', 1234.5],
    ['1234,5', 1234.5],
    ['12,5', 12.5],
    ['1.234', 1234],
    ['1.234.567', 1234567],
    ['0,125', 0.125],
  ])('reads %s of a column with decimal commas', (cell, value) => {
    expect(read('number', cell, 'comma')).toBe(value);
  });

  it.each([
    ['number', 'dot', '12,5'],
    ['number', 'dot', '1,234.50'],
    ['number', 'dot', '1e5'],
    ['number', 'dot', '0x10'],
    ['number', 'dot', '007'],
    ['number', 'dot', '$ 5'],
    ['number', 'dot', 'Infinity'],
    ['number', 'comma', '12.5'],
    ['number', 'comma', '1.23,5'],
    ['number', 'unclear', '1.234'],
    ['integer', 'dot', '5.0'],
    ['integer', 'comma', '5,0'],
    ['boolean', 'dot', 'perhaps'],
    ['boolean', 'dot', '2'],
    ['date', 'dot', '03/04/2026'],
    ['date', 'dot', '2026-02-30'],
    ['datetime', 'dot', '2026-02-28T09:00:00'],
    ['datetime', 'dot', '2026-02-28'],
    ['string_list', 'dot', '| |'],
  ] as const)('refuses as %s with %s "%s"', (type, form, cell) => {
    expect(read(type, cell, form)).toBe('attribute_type_mismatch');
  });

  it('refuses digits that a number would round', () => {
    expect(read('integer', '9007199254740991')).toBe(9007199254740991);
    expect(read('integer', '9007199254740993')).toBe('out_of_range');
    expect(read('number', '90.071.992.547.409.930', 'comma')).toBe('out_of_range');
  });
});
