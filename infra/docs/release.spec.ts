import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedFiles } from './generated-files.ts';
import { RELEASE, releaseFiles, VERSION, writtenAgain } from './release.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Files that are written by people and by which the platform is made, run and explained. */
const SOURCES = [
  '*.{json,md,mjs,yml}',
  '{apps,libs}/*/*.{json,md,ts,mjs,html}',
  '{apps,libs}/*/{src,server,test}/**/*.{ts,tsx,js,mjs,json,html}',
  'infra/**/*.{ts,tsx,js,mjs,sh,sql,json,md,yaml}',
  'infra/docker/Dockerfile',
  'k8s/**/*.{yaml,env,sh,md}',
  'docs/**/*.{md,csv,yaml}',
];

/** Says why a file may say the release though it is written by hand. */
const MAY_SAY: readonly (readonly [file: RegExp, why: string])[] = [
  [/^package\.json$/, 'the one place'],
  [/^package-lock\.json$/, 'npm copies it there'],
  [/^docs\/spec\/service\.md$/, 'the specification says which release it specifies'],
  [/^docs\/adr\//, 'a decision is of its time'],
];

describe('the release', () => {
  it.each(releaseFiles)('stands in %s as package.json has it', (file, write) => {
    expect(read(file)).toBe(write());
  });

  it('is written nowhere else', () => {
    const generated = new Set([...generatedFiles, ...releaseFiles.map(([file]) => file)]);
    const files = globSync(SOURCES, {
      cwd: root,
      exclude: ['**/node_modules/**', '**/dist/**', '**/out-tsc/**'],
    })
      .filter((file) => !generated.has(file) && !MAY_SAY.some(([path]) => path.test(file)))
      .sort();
    expect(files.length).toBeGreaterThan(3_000);
    expect(
      writtenAgain(
        files.map((file) => [file, read(file)] as const),
        RELEASE,
      ),
    ).toEqual([]);
  });

  it('is found where it is written again, and another number is not', () => {
    const texts = [
      ['a.ts', `const release = '${RELEASE}';\nconst tag = 'core:${VERSION}';`],
      ['b.md', `In ${RELEASE}1, 1${RELEASE} and 3.${RELEASE}\nand ${RELEASE}.`],
    ] as const;
    expect(writtenAgain(texts, RELEASE)).toEqual(['a.ts:1', 'a.ts:2', 'b.md:2']);
  });
});
