import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Document {
  components: { schemas: Record<string, { properties: Record<string, { enum?: string[] }> }> };
}

const read = (path: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8'));
const { schemas } = (read('../../../../docs/openapi.json') as Document).components;

it.each([
  ['SendStepDto', 'state'],
  ['TransactionDto', 'kind'],
])('every %s has a name for its %s, in both languages', (schema, property) => {
  const values = schemas[schema]?.properties[property]?.enum ?? [];
  expect(values.length).toBeGreaterThan(0);
  for (const language of ['en', 'es']) {
    const { parts } = read(`messages.${language}.json`) as { parts: Record<string, string> };
    expect(Object.keys(parts)).toEqual(expect.arrayContaining(values));
  }
});
