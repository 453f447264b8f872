import { guessMapping, mappingOf } from './fields.ts';

describe('a mapping', () => {
  it('is guessed from the names of columns, each field once', () => {
    expect(
      guessMapping(['ID', 'Correo electrónico', 'Teléfono', 'Nombre', 'Name', 'RUT', 'Plan anual', '']),
    ).toEqual({
      ID: 'external_id',
      'Correo electrónico': 'email',
      Teléfono: 'phone',
      Nombre: 'first_name',
      Name: 'attributes.name',
      RUT: 'national_id.CL_RUT',
      'Plan anual': 'attributes.plan_anual',
      '': '',
    });
  });

  it('leaves out what is left empty', () => {
    expect(mappingOf({ id: ' external_id ', note: ' ' })).toEqual({ id: 'external_id', note: null });
  });
});
