import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { asyncApiDocument } from './asyncapi.js';
import { breakingChanges, currentSchemas, type PublishedSchemas } from './compatibility.js';

/** The committed schemas of all published versions. */
export const PUBLISHED = new URL('../published-schemas.json', import.meta.url);
/** The committed AsyncAPI document. */
export const ASYNCAPI = new URL('../asyncapi.json', import.meta.url);

/** The version of the platform, from the one place that says it. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

/** A generated file's text. */
export function fileText(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/**
 * Writes both generated files. Run after an event has been added or has gained an optional field:
 * `node libs/events/dist/publish-schemas.js`.
 * @throws Error listing what would break a published version; a change like that needs a new version
 */
function publishSchemas(): void {
  const current = currentSchemas();
  if (existsSync(PUBLISHED)) {
    const published = JSON.parse(readFileSync(PUBLISHED, 'utf8')) as PublishedSchemas;
    const breaks = breakingChanges(published, current);
    if (breaks.length > 0) throw new Error(`A published version would break:\n${breaks.join('\n')}`);
  }
  writeFileSync(PUBLISHED, fileText(current));
  writeFileSync(ASYNCAPI, fileText(asyncApiDocument(VERSION)));
}

if (import.meta.main) publishSchemas();
