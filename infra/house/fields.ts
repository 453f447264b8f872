import { readFileSync } from 'node:fs';
import { globSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = ['apps/*/src/**/*.{ts,tsx,json}', 'libs/*/src/**/*.ts', 'docs/spec/*.md'];
/** Made by commands, by hand once for all, or no part of what runs. */
const NOT_BY_HAND =
  /\.(spec|e2e-spec|release-spec|fixture|property|suite)\.tsx?$|^libs\/client\/src\/api\.ts$/;

/** A field of contacts, and who names it. */
export interface NamedField {
  readonly field: string;
  /** File by file, how often. */
  readonly places: ReadonlyMap<string, number>;
}

/** The files in which a new field like this one would stand, by its name or its property: `last_name`, `lastName`. */
export function placesOf(root: string, field: string): NamedField {
  const property = field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const names = new RegExp(`\\b(?:${field}|${property})\\b`, 'g');
  const files = globSync(SOURCES, { cwd: root })
    .filter((file) => !NOT_BY_HAND.test(file))
    .sort();
  const places = files.flatMap((file): [string, number][] => {
    const found = readFileSync(join(root, file), 'utf8').match(names);
    return found ? [[file, found.length]] : [];
  });
  return { field, places: new Map(places) };
}
