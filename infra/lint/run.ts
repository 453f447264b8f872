/** ESLint over what is named, with the graph of packages that its boundaries are read from: `node infra/lint/run.ts PATH…` */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createProjectGraphAsync } from '@nx/devkit';

const root = join(import.meta.dirname, '../..');
// Written where Nx's rule reads it: without a graph that rule passes everything.
process.env['NX_DAEMON'] = 'false';
await createProjectGraphAsync({ exitOnError: true });
const eslint = join(root, 'node_modules/eslint/bin/eslint.js');
const { status } = spawnSync(process.execPath, [eslint, '--max-warnings=0', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
