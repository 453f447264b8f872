import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ran = (script: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, script), ...args], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });

it('is asked for help without running anything', () => {
  const { status, stdout } = ran('run.mjs', '--help');
  expect(status).toBe(0);
  expect(stdout).toContain('npm test -- --only lint,types');
  expect(stdout).not.toContain('passed');
});

it('refuses a step that there is none of', () => {
  const { status, stderr } = ran('run.ts', '--only', 'lnit');
  expect(status).toBe(1);
  expect(stderr).toContain('--only takes steps, with commas between them: format, lint, types');
});
