import type { OpenApiDocument } from './openapi-merge.js';

const open = (operationId: string, summary: string, contentType: string) => ({
  operationId,
  summary,
  tags: ['Gateway'],
  'x-authorization': 'none',
  'x-api-class': 'management',
  'x-latency-class': 'management',
  'x-problems': ['internal_error', 'method_not_allowed', 'route_not_found'],
  responses: { 200: { description: 'Success', content: { [contentType]: {} } } },
});

/** The routes that the gateway answers itself, as the modules describe theirs. */
export const OWN_OPENAPI: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'Customer Platform: gateway', version: '2026.11' },
  paths: {
    '/v1/openapi.json': { get: open('openApi', 'This description', 'application/json') },
    '/v1/asyncapi.json': {
      get: open('asyncApi', 'The domain events on Kafka, as AsyncAPI 3', 'application/json'),
    },
    '/problems/{code}': {
      get: {
        ...open('problem', 'What a problem code means and what to do about it', 'text/html'),
        parameters: [{ name: 'code', in: 'path', required: true, schema: { type: 'string' } }],
      },
    },
  },
};
