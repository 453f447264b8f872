/**
 * The release of the platform stands in package.json alone. What must hold it as a text is written from there, at the
 * beginning of `npm run generate`: the sources that are compiled read one of these files.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Names the release, as the tags of its images do. */
export const VERSION = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string })
  .version;

/** Labels the release, as the documents show it: the year and the month. */
export const RELEASE = labelOf(VERSION);

function labelOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

const constants = (
  version: string,
): string => `// Written by \`npm run generate\` from the version in package.json.

/** Names the release, as the tags of its images do. */
export const VERSION = '${version}';

/** Labels the release, as the documents and the Console show it. */
export const RELEASE = '${labelOf(version)}';
`;

/** An overlay with the tag of its image; all else in it is written by hand. */
const tagged = (file: string, version: string): string =>
  readFileSync(join(root, file), 'utf8').replace(/^( +newTag: ).*$/m, `$1${version}`);

/** Every file that holds the release, and how it is written. */
export const releaseFiles: readonly (readonly [file: string, write: () => string])[] = [
  ['libs/config/src/release.ts', () => constants(VERSION)],
  ...globSync('k8s/overlays/production/*/kustomization.yaml', { cwd: root })
    .filter((file) => /^ +newTag:/m.test(readFileSync(join(root, file), 'utf8')))
    .sort()
    .map((file) => [file, () => tagged(file, VERSION)] as const),
];

/** The lines of these texts that write the release once more, as `file:line`. */
export function writtenAgain(
  texts: Iterable<readonly [file: string, text: string]>,
  release: string,
): string[] {
  const written = new RegExp(`(?<![\\d.])${release.replaceAll('.', '\\.')}(?!\\d)`);
  return [...texts].flatMap(([file, text]) =>
    text.split('\n').flatMap((line, at) => (written.test(line) ? [`${file}:${String(at + 1)}`] : [])),
  );
}

if (import.meta.main) for (const [file, write] of releaseFiles) writeFileSync(join(root, file), write());
