import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { routesOf, routesWith, webhookEventsOf, type OpenApi } from './open-api.ts';

const file = resolve(import.meta.dirname, '../../../../../docs/openapi.json');
const document = JSON.parse(readFileSync(file, 'utf8')) as OpenApi;
const routes = routesOf(document);

describe('the routes of the reference', () => {
  it('are all of the document, each with its permission', () => {
    const operations = Object.values(document.paths).flatMap((each) => Object.keys(each));
    expect(routes).toHaveLength(operations.length);
    expect(routes).toContainEqual(
      expect.objectContaining({
        name: 'GET /v1/core/contacts',
        permission: 'core.contacts.read',
        module: 'core',
      }),
    );
  });

  it('are found by words of path, permission, summary and problem code, in any order', () => {
    const found = routesWith(routes, 'REPLAY dead-letters', undefined).map(({ name }) => name);
    expect(found).toContain('POST /v1/core/dead-letters/{id}/replay');
    const conflicts = routesWith(routes, 'not_replayable', 'core');
    expect(conflicts.length).toBeGreaterThan(0);
    expect(routesWith(routes, 'not_replayable', 'crm')).toEqual([]);
  });

  it('are none of a document that has none', () => {
    expect(routesOf({ info: { version: '1' }, paths: {} })).toEqual([]);
    expect(webhookEventsOf({ info: { version: '1' }, paths: {} })).toEqual([]);
  });
});

describe('the events of a webhook endpoint', () => {
  it('are those that its body allows', () => {
    expect(webhookEventsOf(document)).toEqual(expect.arrayContaining(['core.*', 'core.event.recorded']));
  });
});
