import { globSync } from 'node:fs';
import { join } from 'node:path';
import { doorOf, HOUSES } from './rooms.ts';

const workspace = join(import.meta.dirname, '../..');
const PEOPLE = 'apps/core/src/people';

it('finds a door of the module and the services that it exports, by modules within the room too', () => {
  const door = doorOf('core', 'people');
  expect(door).toEqual(
    expect.arrayContaining([`${PEOPLE}/people.module.ts`, `${PEOPLE}/contacts/contact-lookup.ts`]),
  );
  expect(door).not.toContain(`${PEOPLE}/contacts/contacts.module.ts`);
  expect(door).not.toContain(`${PEOPLE}/identities/identities.repository.ts`);
});

it('leaves a room without a module open', () => {
  expect(doorOf('core', 'vocabulary')).toBeUndefined();
});

it.each(Object.entries(HOUSES))('has a place for every room of %s, and for no other', (app, { rooms }) => {
  const sources = globSync(`apps/${app}/src/*/**/*.{ts,tsx}`, {
    cwd: workspace,
    exclude: ['**/*.spec.ts', '**/*.fixture.ts'],
  });
  expect([...new Set(sources.map((file) => file.split('/')[3]))].sort()).toEqual([...rooms].sort());
});
