import { createConfig, lintFromString } from '@redocly/openapi-core';

/** Rules of Redocly beyond its strict recommendations, which judge no example of a body. */
const FURTHER_RULES = {
  'no-invalid-media-type-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-schema-examples': 'error',
  'operation-operationId-unique': 'error',
  'no-duplicated-tag-names': 'error',
  'tags-alphabetical': 'off',
} as const;

/** What Redocly finds in an OpenAPI document, as sentences; nothing is fetched and nothing reported anywhere. */
export async function lintOpenApi(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules: FURTHER_RULES });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(
    ({ ruleId, message, location: [where] }) => `${ruleId} at ${where?.pointer ?? '#'}: ${message}`,
  );
}
