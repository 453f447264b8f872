import { RELEASE } from '@customer-platform/config';
import { PROBLEM_CONTENT_TYPE, PROBLEM_SCHEMA } from '@customer-platform/problem-json';
import { mergeOpenApi, type OpenApiDocument } from './openapi-merge.js';

interface OpenRoute {
  operationId: string;
  summary: string;
  contentType: string;
  /** What it answers where there is no such page. */
  notFound?: object;
  example: unknown;
}

const refused = (description: string) => ({
  description,
  content: { [PROBLEM_CONTENT_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
});

const open = ({ operationId, summary, contentType, notFound, example }: OpenRoute) => ({
  operationId,
  summary,
  tags: ['gateway'],
  security: [],
  'x-authorization': 'none',
  'x-api-class': 'management',
  'x-latency-class': 'management',
  'x-problems': ['headers_too_large', 'internal_error', 'uri_too_long'],
  responses: {
    200: {
      description: 'Success',
      content: { [contentType]: { schema: schemaOf(contentType), example } },
    },
    ...(notFound ? { 404: notFound } : {}),
    414: refused('`uri_too_long`'),
    431: refused('`headers_too_large`'),
    500: refused('`internal_error`'),
  },
});

const schemaOf = (contentType: string) => ({ type: contentType === 'text/html' ? 'string' : 'object' });

/** The routes that the gateway answers itself, as the modules describe theirs. */
export const OWN_OPENAPI: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'Customer Platform: gateway', version: RELEASE },
  tags: [
    { name: 'gateway', description: 'This description, that of the events, and the pages on problems.' },
  ],
  components: { schemas: { Problem: PROBLEM_SCHEMA } },
  paths: {
    '/v1/openapi.json': {
      get: open({
        operationId: 'openApi',
        summary: 'This description',
        contentType: 'application/json',
        example: { openapi: '3.1.0' },
      }),
    },
    '/v1/asyncapi.json': {
      get: open({
        operationId: 'asyncApi',
        summary: 'The domain events on Kafka, as AsyncAPI 3',
        contentType: 'application/json',
        example: { asyncapi: '3.0.0' },
      }),
    },
    '/problems/{code}': {
      get: {
        ...open({
          operationId: 'problem',
          summary: 'What a problem code means and what to do about it',
          contentType: 'text/html',
          example: '<!doctype html>…',
          notFound: refused('`route_not_found`'),
        }),
        parameters: [
          {
            name: 'code',
            in: 'path',
            required: true,
            schema: { type: 'string' },
            example: 'resource_referenced',
          },
        ],
      },
    },
  },
};

/** The description of the whole: what the gateway answers itself and what the modules say of theirs. */
export function describeWhole(
  version: string,
  modules: Iterable<readonly [module: string, document: OpenApiDocument]>,
): OpenApiDocument {
  const info = {
    title: 'Customer Platform API',
    version,
    description: 'Events, contacts, CRM, identity, messaging and loyalty behind one address.',
    license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
  };
  return {
    ...mergeOpenApi(info, [['gateway', OWN_OPENAPI], ...modules]),
    servers: [{ url: '/', description: 'The address that this description came from' }],
  };
}
