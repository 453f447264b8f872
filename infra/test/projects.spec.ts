import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** What package.json tells Nx. */
interface Manifest {
  nx?: { targets?: Record<string, unknown> };
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;
}

/** What each package can be asked for: an app is built into an image, a library is read by others. */
function targetsFor(folder: string): string[] {
  return [
    'build',
    ...(folder.startsWith('libs/') ? ['declarations'] : ['image']),
    ...(globSync(`${folder}/**/*.e2e-spec.ts`, { cwd: ROOT }).length > 0 ? ['e2e'] : []),
    'lint',
    'test',
    'typecheck',
  ].sort();
}

const packages = globSync('{apps,libs}/*/package.json', { cwd: ROOT }).map((file) =>
  file.replace('/package.json', ''),
);

// Nx passes over a project without the target in silence.
describe('the targets of the projects', () => {
  it.each(packages)('%s has each that its files need', (folder) => {
    const { nx } = readJson<Manifest>(`${folder}/package.json`);
    expect(Object.keys(nx?.targets ?? {}).sort()).toEqual(targetsFor(folder));
  });

  it('the root’s references name every project’s types', () => {
    const { references } = readJson<{ references: { path: string }[] }>('tsconfig.json');
    const wanted = [
      ...packages,
      ...packages.filter((folder) => folder.startsWith('libs/')).map((lib) => `${lib}/tsconfig.lib.json`),
      'infra',
    ];
    expect(references.map(({ path }) => path).sort()).toEqual(wanted.sort());
    for (const { path } of references)
      expect(existsSync(join(ROOT, path.endsWith('.json') ? path : `${path}/tsconfig.json`))).toBe(true);
  });

  it('every spec is named so that one target runs it', () => {
    const specs = globSync('{apps,libs,infra}/**/*{.,-}spec.ts', {
      cwd: ROOT,
      exclude: (path) => /^(node_modules|dist|fixtures)$/.test(path),
    });
    const unnamed = specs.filter(
      (file) => !/^((apps|infra)\/.*\.e2e-spec|.*\.(release-)?spec)\.ts$/.test(file),
    );
    expect(specs.length).toBeGreaterThan(packages.length);
    expect(unnamed).toEqual([]);
  });
});
