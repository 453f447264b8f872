import { readFileSync } from 'node:fs';
import { PROBLEMS, type ProblemCode } from '@customer-platform/problem-json';
import { lintOpenApi } from './lint-openapi.ts';

interface Media {
  schema?: object;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}
interface Answer {
  $ref?: string;
  content?: Record<string, Media>;
}
interface Operation {
  summary: string;
  parameters?: { name: string; in: string; schema: object }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Answer>;
  'x-permission'?: string;
  'x-authorization'?: string;
  'x-api-class': string;
  'x-latency-class': string;
  'x-problems': ProblemCode[];
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    responses: Record<string, Answer>;
    examples: Record<string, { value: { code: string; status: number } }>;
  };
}

const whole = (): Document =>
  JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as Document;
const { paths, components } = whole();
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
);
const modules = operations.filter(({ operation }) => operation['x-authorization'] !== 'none');

describe('docs/openapi.json', () => {
  it('passes the linter, every example judged by its schema', async () => {
    expect(await lintOpenApi(whole())).toEqual([]);
  }, 60_000);

  it('would not pass with an example that its schema refuses, nor with a reference to nothing', async () => {
    const example = whole();
    const media = example.paths['/v1/crm/notes']?.['post']?.requestBody?.content['application/json'];
    Object.assign(media ?? {}, { example: { contact_id: 'no id' } });
    expect((await lintOpenApi(example)).join()).toContain('no-invalid-media-type-examples');
    const dangling = whole();
    delete dangling.components.responses[Object.keys(components.responses)[0] ?? ''];
    expect((await lintOpenApi(dangling)).join()).toContain('no-unresolved-refs');
  }, 60_000);

  it('names exactly one authorization and the classes of every route', () => {
    for (const { name, operation } of operations) {
      const authorizations = [operation['x-permission'], operation['x-authorization']];
      expect([name, authorizations.filter((each) => each !== undefined).length]).toEqual([name, 1]);
      expect([name, operation['x-api-class'], operation['x-latency-class'], operation.summary]).not.toContain(
        undefined,
      );
    }
  });

  it('lets every list that is sorted by name be filtered by how the name begins', () => {
    for (const { name, operation } of operations) {
      const parameters = new Map((operation.parameters ?? []).map((each) => [each.name, each]));
      const isNamed = /\bname\b/.test(JSON.stringify(parameters.get('sort')?.schema ?? {}));
      if (isNamed)
        expect([name, [...parameters.keys()]]).toEqual([name, expect.arrayContaining(['name[prefix]'])]);
    }
  });

  it('describes every parameter of a path', () => {
    for (const { name, path, operation } of operations) {
      const described = (operation.parameters ?? []).filter((each) => each.in === 'path');
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      expect([name, described.map((each) => each.name)]).toEqual([name, named]);
    }
  });

  it('shows the body that a route takes, and the one that it answers, by an example', () => {
    for (const { name, operation } of operations) {
      const succeeded = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      const bodies = [operation.requestBody, ...succeeded.map(([, answer]) => answer)];
      for (const { schema, example } of bodies.flatMap((body) => Object.values(body?.content ?? {})))
        expect([name, schema !== undefined, example !== undefined]).toEqual([name, true, true]);
    }
  });

  it('tells of every code with the status of the registry, by an example', () => {
    for (const { name, operation } of modules) {
      const told = Object.entries(operation.responses).flatMap(([status, { $ref = '' }]) =>
        codesOf($ref).map((code) => [status, code]),
      );
      const wanted = operation['x-problems'].map((code) => [String(PROBLEMS[code].status), code]);
      expect([name, told.sort()]).toEqual([name, wanted.sort()]);
    }
    for (const [code, { value }] of Object.entries(components.examples))
      expect(value).toMatchObject({ code, status: PROBLEMS[code as ProblemCode].status });
  });
});

function codesOf(reference: string): string[] {
  const answer = components.responses[reference.replace('#/components/responses/', '')];
  return Object.keys(answer?.content?.['application/problem+json']?.examples ?? {});
}
