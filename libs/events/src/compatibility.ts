import { EVENT_TYPES } from './catalogue.js';
import { dataSchema, type JsonSchema } from './json-schema.js';

/** Published versions of events: type → schema of its data. */
export type PublishedSchemas = Readonly<Record<string, JsonSchema>>;

/** The schemas of this build. */
export function currentSchemas(): PublishedSchemas {
  return Object.fromEntries(EVENT_TYPES.map((type) => [type, dataSchema(type)]));
}

/**
 * What would break someone. Old and new builds run side by side and a topic keeps events for days, so each must read
 * the other's: once published, a version may only gain fields that are optional, at any depth, and new texts of
 * description. Anything else is a new version, published beside the old one.
 */
export function breakingChanges(published: PublishedSchemas, current: PublishedSchemas): string[] {
  return Object.entries(published).flatMap(([type, before]) => {
    const after = current[type];
    return after ? differences(before, after, `${type} data`) : [`${type} is no longer published`];
  });
}

const TEXTS = new Set(['description', 'title', 'examples']);

function differences(before: unknown, after: unknown, where: string): string[] {
  if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length !== after.length) return [`${where} lists other values`];
    return before.flatMap((value, at) => differences(value, after[at], `${where}[${String(at)}]`));
  }
  if (!isObject(before) || !isObject(after)) return before === after ? [] : [`${where} is another`];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => !TEXTS.has(name))
    .flatMap((name) => {
      if (name === 'properties') return properties(before, after, where);
      if (name === 'required') return required(before, after, where);
      return differences(before[name], after[name], `${where}.${name}`);
    });
}

/** Fields may be added; those that were there stay as they were. */
function properties(before: JsonSchema, after: JsonSchema, where: string): string[] {
  const old = objectAt(before, 'properties');
  const now = objectAt(after, 'properties');
  return Object.entries(old).flatMap(([field, schema]) =>
    field in now ? differences(schema, now[field], `${where}.${field}`) : [`${where}.${field} is gone`],
  );
}

/** What old consumers count on stays required; what old events lack must not become so. */
function required(before: JsonSchema, after: JsonSchema, where: string): string[] {
  const old = new Set((before['required'] ?? []) as string[]);
  const now = new Set((after['required'] ?? []) as string[]);
  return [
    ...[...old].filter((field) => !now.has(field)).map((field) => `${where}.${field} is no longer required`),
    ...[...now].filter((field) => !old.has(field)).map((field) => `${where}.${field} is required anew`),
  ];
}

function objectAt(schema: JsonSchema, name: string): JsonSchema {
  const value = schema[name];
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
