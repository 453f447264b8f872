import { createConfig, lintFromString } from '@redocly/openapi-core';

/** Rules of Redocly beyond its strict recommendations, which judge no example of a body. */
const FURTHER_RULES = {
  'no-invalid-media-type-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-schema-examples': 'error',
  'operation-operationId-unique': 'error',
  'no-duplicated-tag-names': 'error',
  'tags-alphabetical': 'off',
  // A protocol answers some requests by a redirect alone: see `unanswered`.
  'operation-2xx-response': 'off',
} as const;

interface Operations {
  readonly paths?: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
}

/** What Redocly finds in an OpenAPI document, as sentences; nothing is fetched and nothing reported anywhere. */
export async function lintOpenApi(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules: FURTHER_RULES });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  const found = problems.map(
    ({ ruleId, message, location: [where] }) => `${ruleId} at ${where?.pointer ?? '#'}: ${message}`,
  );
  return [...found, ...unanswered(document)];
}

/** Operations that neither succeed nor send the caller on. */
function unanswered({ paths = {} }: Operations): string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { responses }]) => responses && !Object.keys(responses).some((code) => /^[23]/.test(code)))
      .map(([method]) => `${method.toUpperCase()} ${path} has neither a 2XX nor a 3XX response.`),
  );
}
