import { mergeOpenApi } from './openapi-merge.js';

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
