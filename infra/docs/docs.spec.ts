import { readFileSync } from 'node:fs';
import { differences, keyOf } from './comparison.ts';
import { endpointsPage } from './endpoints-page.ts';
import { MODULES, routesIn, servedRoutes, type ServedRoute } from './operations.ts';
import { brokenCodes, currentCodes, publishedCodes } from './published-codes.ts';
import { publishedRoutes, publishRoutes, vanishedRoutes } from './published-routes.ts';
import { fieldsOf, listedRoutes, parseRoutes, type ListedRoute } from './route-table.ts';

const aRoute = (over: Partial<ListedRoute> = {}): ListedRoute => ({
  module: 'core',
  method: 'GET',
  path: '/v1/core/events',
  permission: 'core.events.read',
  auth: 'api_key|user',
  api_class: 'management',
  latency_class: 'management',
  order: '1',
  success: '200',
  origin: 'service',
  note: '',
  ...over,
});
const served = (over: Partial<ServedRoute> = {}): ServedRoute => {
  const { order: _order, origin: _origin, note: _note, ...route } = aRoute(over);
  return route;
};

describe('the route table', () => {
  it('reads quoted fields', () => {
    expect(fieldsOf('core,GET,"a, ""b""",')).toEqual(['core', 'GET', 'a, "b"', '']);
  });

  it('refuses a row with a field too few, and says where', () => {
    expect(() => parseRoutes('a,b\n1,2\n3')).toThrow('Line 3 has 1 fields: 3');
  });

  it('names every route once, with exactly one authorization', () => {
    const routes = listedRoutes();
    expect(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size).toBe(routes.length);
    const credentials = ['api_key', 'user', 'api_key|user'];
    for (const route of routes)
      expect([route.path, route.permission !== '']).toEqual([route.path, credentials.includes(route.auth)]);
  });
});

describe('what the apps serve against the route table', () => {
  it.each(MODULES)('%s serves its routes as listed', (module) => {
    const own = servedRoutes().filter((route) => route.module === module);
    expect(differences(listedRoutes(), own)).toEqual([]);
  });

  it('names a route that is not listed', () => {
    expect(differences([], [served()])).toEqual([
      'GET /v1/core/events is served by core, and not in docs/spec/endpoints.csv',
    ]);
  });

  it.each(['permission', 'auth', 'api_class', 'latency_class', 'success', 'module'] as const)(
    'names another %s',
    (field) => {
      const [difference] = differences([aRoute()], [served({ [field]: 'other' })]);
      expect(difference).toContain(`GET /v1/core/events: ${field} is "other", the contract says`);
    },
  );

  it('reads permission, credential, classes and success from a description', () => {
    const operation = {
      'x-permission': 'core.events.read',
      'x-api-class': 'management',
      'x-latency-class': 'management',
      security: [{ api_key: [] }, { user_token: [] }],
      responses: { '400': {}, '200': {} },
    };
    expect(routesIn('core', { paths: { '/v1/core/events': { get: operation } } })).toEqual([served()]);
    const repeatable = { ...operation, responses: { '200': {}, '201': {}, '307': {} } };
    expect(routesIn('core', { paths: { '/v1/core/events': { get: repeatable } } })).toEqual([
      served({ success: '201' }),
    ]);
    const open = { ...operation, 'x-permission': undefined, 'x-authorization': 'signed_link' };
    expect(routesIn('core', { paths: { '/v1/core/events': { get: open } } })).toEqual([
      served({ permission: '', auth: 'signed_link' }),
    ]);
  });
});

describe('the published routes', () => {
  it('are all served still', () => {
    expect(vanishedRoutes(publishedRoutes(), servedRoutes())).toEqual([]);
    expect(publishedRoutes().length).toBeGreaterThan(50);
  });

  it('one that vanished is named, and kept in the list', () => {
    const gone = ['GET /v1/core/events', 'GET /v1/core/gone'];
    expect(vanishedRoutes(gone, [served()])).toEqual(['GET /v1/core/gone']);
    expect(() => publishRoutes([served()], gone)).toThrow('must stay: GET /v1/core/gone');
    expect(publishRoutes([served()], [])).toEqual(['GET /v1/core/events']);
  });
});

describe.each(MODULES)('the routes of %s', (module) => {
  const listed = listedRoutes().filter((route) => route.module === module);
  const done = new Set(servedRoutes().map(keyOf));
  const missing = listed.filter((route) => !done.has(keyOf(route))).map(keyOf);

  it(`${listed.length - missing.length} of ${listed.length} are there, and docs/endpoints.md says which are not`, () => {
    const page = readFileSync(new URL('../../docs/endpoints.md', import.meta.url), 'utf8');
    const [, later = ''] = new RegExp(`- \\*\\*${module}\\*\\* \\(\\d+\\): (.*)`).exec(page) ?? [];
    expect(later.split(', ').filter(Boolean)).toEqual(missing.map((route) => `\`${route}\``));
    for (const { method, path } of listed)
      expect(page.includes(`| \`${method} ${path}\` |`)).toBe(done.has(`${method} ${path}`));
  });
});

describe('docs/endpoints.md', () => {
  it('shows what exists in a table and lists what does not', () => {
    const page = endpointsPage([aRoute(), aRoute({ path: '/v1/core/usage' })], [served()]);
    expect(page).toContain('1 of the 2 routes');
    expect(page).toContain('| `GET /v1/core/events` | `core.events.read` | API key or user |');
    expect(page).toContain('- **core** (1): `GET /v1/core/usage`');
  });
});

describe('the published problem codes', () => {
  it('are all in the registry still, each with its status', () => {
    expect(brokenCodes(publishedCodes(), currentCodes())).toEqual([]);
    expect(Object.keys(publishedCodes()).length).toBeGreaterThan(0);
  });

  it('a code that vanished or changed its status is named', () => {
    expect(brokenCodes({ gone: 400, moved: 409, kept: 404 }, { moved: 422, kept: 404, fresh: 400 })).toEqual([
      'gone (400) has vanished',
      'moved was 409, is 422',
    ]);
  });
});
