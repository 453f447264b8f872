import { menuFor } from '../shell/menu.ts';
import { actsFor, partsAt, placesAbove, placesFor } from './places.ts';

const all = (): boolean => true;
const none = (): boolean => false;

describe('the places of the Console', () => {
  it('are below the pages of the menu, which keep room for as many as they have', () => {
    for (const { to, name, parts = 0 } of menuFor(all))
      expect([name, partsAt(to.split('/').slice(3).join('/'), all).length]).toEqual([name, parts]);
  });

  it('are each found once, and only by who may see them', () => {
    const paths = placesFor(all).map(({ place }) => place.path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(placesFor(none).map(({ place }) => place.path)).toEqual(['', 'account']);
    expect(actsFor(none)).toEqual([]);
  });

  it.each([
    ['', []],
    ['contacts', []],
    ['contacts/imports', ['contacts']],
    ['contacts/0199', ['contacts']],
    ['messages/templates/0199', ['messages', 'templates']],
    ['organization/roles/new', ['organization', 'roles']],
    ['developers/keys', ['developers']],
    ['nowhere/at/all', []],
  ])('stand above %j: %j', (path, names) => {
    expect(placesAbove(path, all).map(({ name }) => name)).toEqual(names);
  });
});
