import { slugOf } from './slug.ts';

describe('the short name made of a name', () => {
  it.each([
    ['Tienda Ñuñoa', 'tienda-nunoa'],
    ['  --Sur & Norte!! ', 'sur-norte'],
    ['', ''],
    ['a'.repeat(80), 'a'.repeat(63)],
  ])('of %j is %j', (name, slug) => expect(slugOf(name)).toBe(slug));
});
