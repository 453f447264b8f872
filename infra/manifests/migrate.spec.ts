import { spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MODULES } from '../docker/secrets.mjs';
import { VERSION } from '../docs/release.ts';
import { Manifests } from './kubernetes.fixture.ts';
import { manifestTools } from './tools.ts';

const ROOT = join(import.meta.dirname, '../..');
const SCRIPT = join(ROOT, 'k8s/migrate.sh');
const tools = await manifestTools();
const manifests = await Manifests.copied();
const built = await tools.kustomize(join(manifests.folder, 'overlays/production/core'));
const all = await tools.kustomize(join(manifests.folder, 'overlays/production'));
afterAll(() => manifests.remove());

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'migrate-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/**
 * Runs the script on a cluster that is played by a program named kubectl: it builds what the overlay is, writes down what
 * it is told, and gives of each job the next of `conditions` whenever it is asked, the last one for ever.
 */
function migrate(manifest: string, conditions: readonly string[], args = ['k8s/overlays/production/core']) {
  const kubectl = `#!/bin/sh
case "$*" in kustomize*) cat '${folder}/built.yaml'; exit ;; esac
echo "$*" | sed 's/ -o .*//' >>'${folder}/told'
case "$*" in
*' get '*)
  head -n 1 '${folder}/conditions'
  [ "$(wc -l <'${folder}/conditions')" -eq 1 ] || { sed 1d '${folder}/conditions' >'${folder}/rest'; mv '${folder}/rest' '${folder}/conditions'; }
  ;;
*' logs '*) echo 'column "x" is missing' ;;
esac
`;
  writeFileSync(join(folder, 'kubectl'), kubectl);
  chmodSync(join(folder, 'kubectl'), 0o755);
  writeFileSync(join(folder, 'built.yaml'), manifest);
  writeFileSync(join(folder, 'conditions'), conditions.map((condition) => `${condition}\n`).join(''));
  writeFileSync(join(folder, 'told'), '');
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const { status, stdout, stderr } = spawnSync('/bin/sh', [SCRIPT, ...args], { env, encoding: 'utf8' });
  const told = readFileSync(join(folder, 'told'), 'utf8').trim().split('\n');
  return { status, stdout, stderr, told };
}

const GET = `-n customer-platform get job/core-migrate-${VERSION} --ignore-not-found`;
const DELETE = `-n customer-platform delete job/core-migrate-${VERSION} --cascade=foreground`;
const APPLY = 'apply -k k8s/overlays/production/core -l app.kubernetes.io/component notin (api, worker)';

describe('k8s/migrate.sh', () => {
  it('applies where no job of this release is, and waits until it has ended', () => {
    const { status, told } = migrate(built, ['', '', 'SuccessCriteriaMet Complete']);
    expect(status).toBe(0);
    expect(told).toEqual([GET, APPLY, GET, GET]);
  });

  it.each(['FailureTarget Failed', 'Complete'])(
    'a job that ended as %s is made anew, and so runs',
    (ended) => {
      const { status, told } = migrate(built, [ended, 'Complete']);
      expect(status).toBe(0);
      expect(told).toEqual([GET, DELETE, APPLY, GET]);
    },
  );

  it('one that is running is left to it', () => {
    const { status, told } = migrate(built, ['', 'Complete']);
    expect(status).toBe(0);
    expect(told).toEqual([GET, APPLY, GET]);
  });

  it('ends with 1 and what the job said when it fails, without waiting any longer', () => {
    const { status, stderr, told } = migrate(built, ['', 'Failed']);
    expect(status).toBe(1);
    expect(stderr).toContain('column "x" is missing');
    expect(stderr).toContain(`core-migrate-${VERSION} failed`);
    expect(told.at(-1)).toContain('logs');
  });

  it('ends with 1 when the time is over', () => {
    const { status, stderr } = migrate(built, [''], ['k8s/overlays/production/core', '0']);
    expect(status).toBe(1);
    expect(stderr).toContain(`core-migrate-${VERSION} has not ended`);
  });

  it('of all apps at once it waits for each, and tells of an overlay without a migration', () => {
    const { status, told } = migrate(all, ['Complete'], ['k8s/overlays/production']);
    expect(status).toBe(0);
    for (const module of MODULES)
      expect(told.filter((line) => line.includes(`delete job/${module}-migrate-${VERSION} `))).toHaveLength(
        1,
      );
    expect(migrate('kind: Service\n', [''])).toMatchObject({ status: 1, told: [''] });
  });

  it('keeps what a failed migration said: its pods stay as long as the job does', () => {
    const jobs = all.split('\n---\n').filter((text) => /^kind: Job$/m.test(text));
    expect(jobs).toHaveLength(MODULES.length);
    for (const job of jobs) expect(job).toContain('restartPolicy: Never');
  });

  it('is what pages say instead of a wait that never ends', () => {
    const pages = globSync(['docs/**/*.md', 'k8s/**/*.{md,yaml}'], { cwd: ROOT });
    const texts = new Map(pages.map((page) => [page, readFileSync(join(ROOT, page), 'utf8')]));
    const waiting = [...texts].filter(([, text]) => text.includes('condition=complete'));
    expect(waiting.map(([page]) => page)).toEqual([]);
    for (const page of ['k8s/README.md', 'docs/operations/deploy.md', 'docs/operations/restore.md'])
      expect(texts.get(page)).toContain('k8s/migrate.sh k8s/overlays/');
  });
});
