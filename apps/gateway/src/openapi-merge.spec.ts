import { existsSync, readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { mergeOpenApi, type OpenApiDocument } from './openapi-merge.js';
import { OWN_OPENAPI } from './own-openapi.js';
import { MODULES } from './routes.js';

const document = (path: string, schemas: Record<string, unknown>) => ({
  openapi: '3.1.0',
  info: {},
  paths: { [path]: { get: { $ref: '#/components/schemas/Page' } } },
  components: { schemas },
  tags: [{ name: 'all' }],
});

it('keeps alike components once and names unlike ones after their module, references included', () => {
  const merged = mergeOpenApi({ title: 'whole' }, [
    ['core', document('/v1/core/x', { Page: { type: 'object' }, Problem: { type: 'object' } })],
    ['crm', document('/v1/crm/x', { Page: { type: 'array' }, Problem: { type: 'object' } })],
  ]);
  expect(merged.components?.['schemas']).toEqual({
    Page: { type: 'object' },
    Problem: { type: 'object' },
    CrmPage: { type: 'array' },
  });
  expect(merged.paths).toEqual({
    '/v1/core/x': { get: { $ref: '#/components/schemas/Page' } },
    '/v1/crm/x': { get: { $ref: '#/components/schemas/CrmPage' } },
  });
  expect(merged.tags).toEqual([{ name: 'all' }]);
});

it('makes one valid document of the committed ones, each operation named once', async () => {
  const committed = MODULES.flatMap((module): [string, OpenApiDocument][] => {
    const file = new URL(`../../${module}/openapi.json`, import.meta.url);
    return existsSync(file) ? [[module, JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument]] : [];
  });
  expect(committed.length).toBeGreaterThan(0);
  const info = { title: 'whole', version: '1' };
  const merged = mergeOpenApi(info, [['gateway', OWN_OPENAPI], ...committed]);
  const paths = committed.reduce((sum, [, { paths: own }]) => sum + Object.keys(own ?? {}).length, 3);
  expect(Object.keys(merged.paths ?? {})).toHaveLength(paths);
  const ids = [...JSON.stringify(merged).matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(await new Validator().validate(JSON.parse(JSON.stringify(merged)))).toEqual({ valid: true });
});
