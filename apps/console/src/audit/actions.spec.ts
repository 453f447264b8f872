import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ACTION_GROUPS } from './actions.ts';

const english = JSON.parse(readFileSync(join(import.meta.dirname, 'messages.en.json'), 'utf8')) as Record<
  'things' | 'verbs',
  Record<string, string>
>;
const APPS = resolve(import.meta.dirname, '../../..');
/** Finds an act that is written down with its whole name. */
const NAMED =
  /(?:\baction: (?:[\w.]+ \? )?|record\(tx, context, )'(\w+\.\w+\.\w+)'(?: : '(\w+\.\w+\.\w+)')?/g;
/** The acts that a store of resources writes down, by the name that it is given. */
const STORED = /\bresource: '((?:core|crm|identity|loyalty|messaging)\.\w+)',\n/g;

const sources = globSync('{core,crm,identity,loyalty,messaging}/src/**/*.ts', {
  cwd: APPS,
  exclude: ['**/*.spec.ts', '**/*.fixture.ts'],
}).map((path) => readFileSync(join(APPS, path), 'utf8'));

const known = new Set(ACTION_GROUPS.flatMap(({ actions }) => actions));

describe('the acts of the audit log', () => {
  it('are all that the modules write down', () => {
    const named = sources.flatMap((source) =>
      [...source.matchAll(NAMED)].flatMap(([, one, other]) =>
        [one, other].filter((each) => each !== undefined),
      ),
    );
    expect(named.length).toBeGreaterThan(40);
    expect([...new Set(named)].filter((action) => !known.has(action))).toEqual([]);
    const stored = sources
      .filter((source) => source.includes('ResourceStore'))
      .flatMap((source) => [...source.matchAll(STORED)].map(([, resource = '']) => `${resource}.restore`));
    expect([...new Set(stored)].filter((action) => !known.has(action))).toEqual([]);
  });

  it('have a word each, things and verbs', () => {
    const [things, verbs] = [new Set(Object.keys(english.things)), new Set(Object.keys(english.verbs))];
    const lacking = [...known].filter((action) => {
      const [, thing = '', verb = ''] = action.split('.');
      return !things.has(thing) || !verbs.has(verb);
    });
    expect(lacking).toEqual([]);
  });
});
