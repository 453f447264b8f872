import { idIn, instantIn, oneOf, sortIn, textIn } from './search-params.ts';

describe('what an address filters by', () => {
  it('is text, also where the router has read a figure', () => {
    expect(textIn({ external_id: 4711 }, 'external_id')).toBe('4711');
    expect(textIn({ external_id: true }, 'external_id')).toBe('true');
  });

  it.each([[undefined], [''], [null], [{ a: 1 }], [['a']], ['a\0'], ['\uD800']])(
    'is nothing where %j stands there',
    (value) => {
      expect(textIn({ event: value }, 'event')).toBeUndefined();
    },
  );

  it('is cut where it is longer than anything that could be found', () => {
    expect(textIn({ event: 'x'.repeat(10_000) }, 'event')).toHaveLength(500);
  });

  it('is one of what is offered, or nothing', () => {
    expect(oneOf({ type: 'track' }, 'type', ['track', 'identify'])).toBe('track');
    expect(oneOf({ type: 'page' }, 'type', ['track', 'identify'])).toBeUndefined();
  });

  it('is an instant in UTC, or nothing', () => {
    expect(instantIn({ until: '2026-11-23T07:00:00-03:00' }, 'until')).toBe('2026-11-23T10:00:00.000Z');
    expect(instantIn({ until: 'yesterday' }, 'until')).toBeUndefined();
    expect(instantIn({ until: '+012026-11-23T07:00:00Z' }, 'until')).toBeUndefined();
  });

  it('is an id, or nothing', () => {
    const id = '019A6F0E-2b1c-7c3d-9e4f-5a6b7c8d9e0f';
    expect(idIn({ contact: ` ${id} ` }, 'contact')).toBe(id);
    expect(idIn({ contact: `${id}0` }, 'contact')).toBeUndefined();
    expect(idIn({ contact: 42 }, 'contact')).toBeUndefined();
  });

  it('is an order by what there is, or nothing', () => {
    expect(sortIn({ sort: '-name' }, 'sort', ['name'])).toBe('-name');
    expect(sortIn({ sort: 'size' }, 'sort', ['name'])).toBeUndefined();
    expect(sortIn({ sort: '--name' }, 'sort', ['name'])).toBeUndefined();
  });
});
