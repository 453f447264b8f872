import {
  bodyOf,
  changeOf,
  declaresOtherwise,
  draftOf,
  NEW_ATTRIBUTE,
  withType,
  type Attribute,
} from './attribute-draft.ts';

const ATTRIBUTE: Attribute = {
  id: '01a2074e-df76-74aa-8a69-2190be04d175',
  key: 'plan',
  label: 'Plan',
  type: 'string',
  enum: ['free', 'pro'],
  max_length: 20,
  min: null,
  max: null,
  member_visible: true,
  conversion: null,
  created_at: '2026-01-01T03:00:00.000Z',
  updated_at: '2026-01-01T03:00:00.000Z',
  deleted_at: null,
};

describe('an attribute in its form', () => {
  it('is written as it was read', () => {
    const { id: _, conversion, created_at, updated_at, deleted_at, ...content } = ATTRIBUTE;
    expect(bodyOf(draftOf(ATTRIBUTE))).toEqual(content);
    expect([conversion, created_at, updated_at, deleted_at]).toHaveLength(4);
  });

  it('leaves out what another type does not take, and reads numbers', () => {
    const draft = { ...draftOf(ATTRIBUTE), type: 'integer', values: ' 1 \n\nx', min: '0', max: ' ' } as const;
    expect(changeOf(draft)).toMatchObject({ enum: [1, 'x'], max_length: null, min: 0, max: null });
    expect(changeOf({ ...draft, type: 'boolean' })).toMatchObject({ enum: null, min: null });
  });

  it('reads allowed values by the language in which they are typed', () => {
    const typed = { ...NEW_ATTRIBUTE, key: 'price', values: '10.000\n0,5\n1e5\nx\n' };
    const spanish = withType(typed, 'number', 'es-CL');
    expect(changeOf(spanish).enum).toEqual([10_000, 0.5, 'NaN', 'x']);
    expect(changeOf(withType({ ...typed, values: '10.000' }, 'number', 'en')).enum).toEqual([10]);
    expect(withType({ ...spanish, values: '10000\n0.5' }, 'string', 'es-CL').values).toBe('10000\n0,5');
    expect(withType(spanish, 'integer', 'es-CL').values).toBe(spanish.values);
  });

  it('is called by its key unless it has a label', () => {
    expect(bodyOf({ ...NEW_ATTRIBUTE, key: ' plan ' })).toMatchObject({
      key: 'plan',
      label: 'plan',
      enum: null,
    });
  });

  it('asks for what contacts have only where it declares otherwise', () => {
    const draft = draftOf(ATTRIBUTE);
    expect(declaresOtherwise({ ...draft, label: 'Other', memberVisible: false }, ATTRIBUTE)).toBe(false);
    expect(declaresOtherwise({ ...draft, maxLength: '10' }, ATTRIBUTE)).toBe(true);
    expect(declaresOtherwise({ ...draft, type: 'integer' }, ATTRIBUTE)).toBe(true);
  });
});
