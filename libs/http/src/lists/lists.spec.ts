import fc from 'fast-check';
import { Problem } from '@customer-platform/problem-json';
import { thingList } from '../../test/thing.dto.js';
import { Cursors, parseListRequest, type ListDefinition, type ListQuery } from '../index.js';

const cursors = new Cursors('s'.repeat(32));
const organization = '00000000-0000-7000-8000-00000000000a';
const other = '00000000-0000-7000-8000-00000000000b';
const id = '01890000-0000-7000-8000-000000000001';

function list(
  query: Record<string, string> | [string, string][],
  where = organization,
  definition = thingList,
): ListQuery {
  const pairs = Array.isArray(query) ? query : Object.entries(query);
  return parseListRequest(
    definition,
    pairs.map(([name, value]) => ({ name, value })),
    where,
    cursors,
  );
}

function refusal(query: Record<string, string> | [string, string][], where = organization): Problem {
  try {
    list(query, where);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('It was taken');
}

describe('limit', () => {
  it.each([
    [undefined, 50],
    ['1', 1],
    ['200', 200],
    ['201', 200],
    ['999999', 200],
    ['9'.repeat(400), 200],
  ])('%s is %i', (limit, taken) => expect(list(limit === undefined ? {} : { limit }).limit).toBe(taken));

  it.each(['0', '-1', '1.5', '1e2', 'ten', '', '+5', ' 5', '000'])('%j is invalid_limit', (limit) => {
    expect(refusal({ limit })).toMatchObject({ code: 'invalid_limit', errors: [{ parameter: 'limit' }] });
  });
});

describe('filters', () => {
  it.each([
    ['name', 'x', 'eq', ['x']],
    ['name[ne]', 'x', 'ne', ['x']],
    ['name[prefix]', 'x', 'prefix', ['x']],
    ['name[in]', 'a,b', 'in', ['a', 'b']],
    ['name[in]', 'a%2Cb,c', 'in', ['a,b', 'c']],
    ['name[in]', '50%,10%25', 'in', ['50%', '10%']],
    ['name[is_null]', 'true', 'is_null', [true]],
    ['owner_id', id.toUpperCase(), 'eq', [id]],
    ['state', 'open', 'eq', ['open']],
    ['created_at[gte]', '2026-11-21T00:00:00+01:00', 'gte', ['2026-11-20T23:00:00.000Z']],
    ['size[lt]', '-5', 'lt', [-5]],
    ['ratio[gt]', '1.5e2', 'gt', [150]],
    ['day', '2026-11-21', 'eq', ['2026-11-21']],
    ['done', 'false', 'eq', [false]],
    ['occurred_at[lte]', '2026-11-21T00:00:00Z', 'lte', ['2026-11-21T00:00:00.000Z']],
  ])('%s=%s is taken', (name, value, op, values) => {
    const field = name.replace(/\[.*/, '');
    expect(list({ [name]: value }).filters).toMatchObject([
      { field, op, column: field, values, value: values[0] },
    ]);
  });

  it.each([
    ['name[gt]', 'x'],
    ['name[like]', 'x'],
    ['name[]', 'x'],
    ['owner_id', 'x'],
    ['owner_id[prefix]', id],
    ['state', 'OPEN'],
    ['state[in]', 'open,other'],
    ['created_at', '2026-11-21'],
    ['created_at', '2026-11-21T00:00:00 01:00'],
    ['size', '1.5'],
    ['size', '9007199254740993'],
    ['ratio', 'NaN'],
    ['ratio', '1e999'],
    ['day', '2026-02-30'],
    ['done', '1'],
    ['name[is_null]', 'yes'],
    ['name', 'x\u0000'],
    ['name[in]', Array.from({ length: 101 }, (_, i) => i).join(',')],
    ['include_deleted', 'yes'],
    ['view', 'other'],
  ])('%s=%j is invalid_filter', (name, value) => {
    expect(refusal({ [name]: value })).toMatchObject({
      code: 'invalid_filter',
      errors: [{ parameter: name }],
    });
  });

  it('takes 100 values in `in`', () => {
    const values = Array.from({ length: 100 }, (_, i) => String(i));
    expect(list({ 'name[in]': values.join(',') }).filters[0]?.values).toEqual(values);
  });

  it('joins ranges on one field and refuses the same operator twice', () => {
    expect(list({ 'size[gt]': '1', 'size[lt]': '9' }).filters).toHaveLength(2);
    const twice: [string, string][] = [
      ['name', 'a'],
      ['name[eq]', 'b'],
    ];
    expect(refusal(twice)).toMatchObject({ code: 'invalid_filter' });
  });

  it('names an unknown parameter and the allowed ones', () => {
    const problem = refusal({ nmae: 'x', 'toString[eq]': '1' });
    expect(problem.code).toBe('unknown_parameter');
    expect(problem.errors?.map(({ parameter }) => parameter)).toEqual(['nmae', 'toString[eq]']);
    expect(problem.errors?.[0]?.detail).toContain('limit, cursor, sort, include_deleted');
    expect(problem.errors?.[0]?.detail).toContain('owner_id');
  });
});

describe('sort', () => {
  it('defaults, the tie broken in the direction of the last field', () => {
    expect(list({}).sort).toMatchObject([
      { field: 'created_at', direction: 'desc' },
      { field: 'id', type: 'uuid', direction: 'desc' },
    ]);
    expect(list({ sort: '-created_at,name' }).sort).toMatchObject([
      { field: 'created_at', direction: 'desc' },
      { field: 'name', direction: 'asc', nulls: 'last' },
      { field: 'id', direction: 'asc' },
    ]);
  });

  it('takes another tie-breaker, which is not repeated when it is sorted by', () => {
    const seq = { field: 'seq', column: 'seq', type: 'integer' } as const;
    const audit: ListDefinition = {
      resource: 'audit',
      filters: {},
      sorts: { seq },
      defaultSort: '-seq',
      tieBreaker: seq,
    };
    expect(list({}, organization, audit).sort).toEqual([{ ...seq, direction: 'desc' }]);
  });

  it.each(['size', '', 'name,', '--name', 'name,-name', 'toString', 'id'])('%j is invalid_sort', (sort) => {
    expect(refusal({ sort })).toMatchObject({ code: 'invalid_sort', errors: [{ parameter: 'sort' }] });
  });
});

describe('an order in one direction only', () => {
  const at = { column: 'at', type: 'time', only: 'desc' } as const;
  const newestFirst: ListDefinition = { ...thingList, sorts: { at }, defaultSort: '-at' };

  it('is taken as it is', () => {
    expect(list({ sort: '-at' }, organization, newestFirst).sort).toMatchObject([
      { field: 'at', direction: 'desc' },
      { field: 'id', direction: 'desc' },
    ]);
  });

  it('is invalid_sort the other way round, and the answer says which way it is', () => {
    expect(() => list({ sort: 'at' }, organization, newestFirst)).toThrow(
      expect.objectContaining({ code: 'invalid_sort', message: 'This list sorts by -at.' }),
    );
  });
});

describe('timeline sources', () => {
  it('take rows before a pair, the nil and the greatest UUID too', () => {
    for (const bound of ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
      const { before } = list({ before_occurred_at: '2026-11-21T00:00:00Z', before_id: bound });
      expect(before).toEqual({ occurredAt: '2026-11-21T00:00:00.000Z', id: bound, column: 'occurred_at' });
    }
  });

  it('ask for both', () => {
    expect(refusal({ before_id: id })).toMatchObject({
      errors: [{ parameter: 'before_occurred_at', code: 'required' }],
    });
    const time = { before_occurred_at: '2026-11-21T00:00:00Z' };
    expect(refusal(time)).toMatchObject({ errors: [{ parameter: 'before_id', code: 'required' }] });
    expect(refusal({ ...time, before_id: 'x' }).code).toBe('invalid_filter');
    expect(refusal({ before_occurred_at: 'x', before_id: id }).code).toBe('invalid_filter');
  });

  it('are the only lists that take the pair', () => {
    const plain: ListDefinition = { ...thingList, timelineSource: undefined };
    expect(() => list({ before_id: id }, organization, plain)).toThrow(Problem);
  });
});

describe('cursors', () => {
  const values = ['2026-11-21T09:30:00.000Z', id];

  it('give back the position, and may go with another limit', () => {
    const cursor = list({ name: 'x', 'size[gt]': '1' }).cursorFor(values);
    expect(list({ 'size[gt]': '1', cursor, name: 'x', limit: '7' }).after).toEqual(values);
  });

  it('keep null', () => {
    const cursor = list({}).cursorFor([null, id]);
    expect(list({ cursor }).after).toEqual([null, id]);
  });

  it.each<Record<string, string>>([
    { name: 'y' },
    {},
    { name: 'x', sort: 'name' },
    { name: 'x', include_deleted: 'true' },
    { name: 'x', view: 'short' },
    { name: 'x', before_occurred_at: '2026-11-21T00:00:00Z', before_id: id },
  ])('of name=x are cursor_mismatch with %j', (query) => {
    const cursor = list({ name: 'x' }).cursorFor(values);
    expect(refusal({ ...query, cursor })).toMatchObject({
      code: 'cursor_mismatch',
      errors: [{ parameter: 'cursor' }],
    });
  });

  it('of another organization or list are invalid_cursor', () => {
    const cursor = list({}).cursorFor(values);
    expect(refusal({ cursor }, other).code).toBe('invalid_cursor');
    const things = { ...thingList, resource: 'others' };
    expect(() => list({ cursor }, organization, things)).toThrow(
      expect.objectContaining({ code: 'invalid_cursor' }),
    );
  });

  it('are invalid_cursor with any one character changed, added or taken away', () => {
    const cursor = list({}).cursorFor(values);
    for (let place = 0; place < cursor.length; place++) {
      for (const character of ['A', 'B', 'x', '-', '=', '%']) {
        const altered = cursor.slice(0, place) + character + cursor.slice(place + 1);
        if (altered !== cursor) expect(refusal({ cursor: altered }).code).toBe('invalid_cursor');
      }
      expect(refusal({ cursor: cursor.slice(0, place) }).code).toBe('invalid_cursor');
    }
    for (const added of [`${cursor}A`, `${cursor}=`, `A${cursor}`, ` ${cursor}`]) {
      expect(refusal({ cursor: added }).code).toBe('invalid_cursor');
    }
  });

  it('are opaque: nothing of the values can be read', () => {
    const cursor = list({ sort: 'name' }).cursorFor(['Valenzuela', id]);
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('Valenzuela');
  });

  describe('of text that is sorted by language', () => {
    const named: ListDefinition = {
      ...thingList,
      sorts: { ...thingList.sorts, name: { type: 'string', column: 'name', byLanguage: true } },
    };
    const inLanguage = (locale: string | undefined, cursor?: string): ListQuery => {
      const query = { sort: 'name', ...(cursor === undefined ? {} : { cursor }) };
      const parameters = Object.entries(query).map(([name, value]) => ({ name, value }));
      return parseListRequest(named, parameters, organization, cursors, locale);
    };

    it.each([
      ['es', 'text_es'],
      ['es-CL', 'text_es'],
      ['ES-MX', 'text_es'],
      ['est', 'text_root'],
      ['en', 'text_root'],
      [undefined, 'text_root'],
    ])('%s is sorted by %s, the rest by no collation', (locale, collation) => {
      const { sort } = inLanguage(locale);
      expect(sort.map((level) => level.collation)).toEqual([collation, undefined]);
    });

    it('go on in their own order when the organization has another language', () => {
      const cursor = inLanguage('es').cursorFor(['Ñ', id], '153.80');
      const query = inLanguage('en', cursor);
      expect(query).toMatchObject({ after: ['Ñ', id], collationVersion: '153.80' });
      expect(query.sort[0]?.collation).toBe('text_es');
      const further = inLanguage('en', query.cursorFor(['O', id], '153.80'));
      expect(further.sort[0]?.collation).toBe('text_es');
    });

    it('go on by bytes when a former release issued them', () => {
      const cursor = list({ sort: 'name' }).cursorFor(['Ñ', id]);
      const query = inLanguage('es', cursor);
      expect(query.after).toEqual(['Ñ', id]);
      expect(query.sort.map((level) => level.collation)).toEqual([undefined, undefined]);
      expect(inLanguage('es', query.cursorFor(['O', id])).sort[0]?.collation).toBeUndefined();
    });

    it('are cursor_mismatch where a later release sorted by what this one does not know', () => {
      const scope = { organizationId: organization, resource: named.resource };
      const { query, values } = cursors.open(
        { ...scope, query: '' },
        inLanguage('es').cursorFor(['Ñ', id], '1'),
      );
      const later = { ...scope, query: query.replace('text_es', 'text_pt') };
      expect(() => inLanguage('es', cursors.encode(later, values))).toThrow(
        expect.objectContaining({ code: 'cursor_mismatch' }),
      );
    });

    it('are cursor_mismatch to a release that sorts by bytes, and with another order', () => {
      const cursor = inLanguage('es').cursorFor(['Ñ', id], '153.80');
      expect(refusal({ sort: 'name', cursor }).code).toBe('cursor_mismatch');
      expect(() =>
        parseListRequest(named, [{ name: 'cursor', value: cursor }], organization, cursors),
      ).toThrow(expect.objectContaining({ code: 'cursor_mismatch' }));
    });
  });

  it('of another secret are invalid_cursor', () => {
    const scope = { organizationId: organization, resource: 'things', query: 'q' };
    const foreign = new Cursors('t'.repeat(32)).encode(scope, values);
    expect(() => cursors.decode(scope, foreign)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }));
    expect(() => new Cursors('short')).toThrow('at least 32');
  });

  it('give back any values', () => {
    const scope = { organizationId: organization, resource: 'things', query: 'q' };
    fc.assert(
      fc.property(fc.array(fc.option(fc.string({ unit: 'grapheme' }))), (any) => {
        expect(cursors.decode(scope, cursors.encode(scope, any))).toEqual(any);
      }),
    );
  });
});
