/** `npm test`: installs what is missing, then runs every check and test under Node 24 (infra/test/run.ts). */
import { fileURLToPath } from 'node:url';
import { continueUnderNode, usePackages } from '../install/install.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
try {
  await usePackages(root, 'npm test', (line) => process.stderr.write(`${line}\n`));
  continueUnderNode(root, 'infra/test/run.ts', process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
