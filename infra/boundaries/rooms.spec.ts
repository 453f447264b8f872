import { globSync } from 'node:fs';
import { join } from 'node:path';
import { doorOf, HOUSES, roomRules } from './rooms.ts';

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

it('shows of a room with several doors what they export, and nothing of what stands behind', () => {
  const dispatch = 'apps/messaging/src/dispatch';
  const door = doorOf('messaging', 'dispatch');
  expect(door).toEqual(
    expect.arrayContaining([`${dispatch}/sends/sends.repository.ts`, `${dispatch}/gate/gate-forecast.ts`]),
  );
  expect(door?.filter((file) => /claims|passage|transports|gate\.module/.test(file))).toEqual([]);
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

/** The rules by which an import within messaging is refused. */
function refusing(from: string, to: string): (string | undefined)[] {
  const app = 'apps/messaging/src';
  const hits = (patterns: string | string[] | undefined, path: string): boolean =>
    [patterns ?? []].flat().some((pattern) => new RegExp(pattern).test(`${app}/${path}`));
  const found = roomRules('\\.spec\\.ts$').filter(
    (rule) =>
      'to' in rule &&
      hits(rule.from.path, from) &&
      !hits(rule.from.pathNot, from) &&
      hits(rule.to.path, to) &&
      !hits(rule.to.pathNot, to),
  );
  return [...new Set(found.map(({ name }) => name))];
}

it.each([
  ['requests/routing/router.ts', 'dispatch/sends/sends.repository.ts'],
  ['reports/webhooks/provider-reports.service.ts', 'dispatch/sends/send-journal.ts'],
  ['dispatch/gate/preparation.ts', 'content/templates/message-rendering.ts'],
  ['dispatch/gate/claims.spec.ts', 'requests/sends/send.dto.ts'],
])('lets %s of messaging import %s', (from, to) => {
  expect(refusing(from, to)).toEqual([]);
});

it.each([
  ['reports/webhooks/provider-reports.service.ts', 'dispatch/gate/claims.ts', 'rooms-through-their-doors'],
  ['requests/sends/sends.service.ts', 'dispatch/transports/transports.ts', 'rooms-through-their-doors'],
  ['people/contacts/devices.ts', 'dispatch/sends/sends.repository.ts', 'rooms-import-downwards'],
  ['providers/provider.ts', 'messaging.module.ts', 'rooms-import-downwards'],
  ['content/templates/templates.service.ts', 'people/contacts/contacts.repository.ts', 'rooms-stand-apart'],
  ['webhook-endpoints/endpoint-url.ts', 'dispatch/sends/send-journal.ts', 'rooms-stand-apart'],
])('refuses %s of messaging the import of %s by %s', (from, to, rule) => {
  expect(refusing(from, to)).toEqual([rule]);
});

const closed = Object.entries(HOUSES).filter(([, { hasDoors }]) => hasDoors);

it.each(closed)('has a door to every room of %s that has a module', (app, { rooms, commands = [] }) => {
  const open = rooms.filter((room) => doorOf(app, room) === undefined && !commands.includes(room));
  expect(
    open.filter((room) => globSync(`apps/${app}/src/${room}/**/*.module.ts`, { cwd: workspace }).length > 0),
  ).toEqual([]);
});

/** A rule as far as the paths of both ends go. */
interface PathRule {
  readonly name: string;
  readonly from: { readonly path: string };
  readonly to: { readonly path: string; readonly pathNot: readonly string[] };
}

it.each([
  ['mfa/sign-in-factors.ts', true],
  ['mfa/mfa.dto.ts', true],
  ['mfa/factors.store.ts', false],
  ['vocabulary/signed-in.ts', true],
])('lets identity’s rooms import %s: %s', (file, legal) => {
  const imported = `apps/identity/src/${file}`;
  const importing = 'apps/identity/src/sign-in/interaction-steps.ts';
  const refused = (roomRules('\\.spec\\.ts$') as unknown as PathRule[]).filter(
    ({ name, from, to }) =>
      name === 'rooms-through-their-doors' &&
      new RegExp(from.path).test(importing) &&
      new RegExp(to.path).test(imported) &&
      !to.pathNot.some((pattern) => new RegExp(pattern).test(imported)),
  );
  expect(refused).toHaveLength(legal ? 0 : 1);
});
