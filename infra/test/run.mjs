/** `npm test`: installs what is missing, then runs every check and test under Node 24 (infra/test/run.ts). */
import { fileURLToPath } from 'node:url';
import { continueUnderNode, usePackages } from '../install/install.mjs';

const HELP = `npm test [-- PATH … --only STEPS OPTIONS]

  npm test                          every check and test, which takes long
  npm test -- apps/core libs/http   these paths: format, lint, types, and their specs
  npm test -- --only lint,types     these steps: format lint types boundaries build
                                    generated migrations sql openapi manifests jest
  npm test -- apps/core -t purge    options from the first unknown one on go to Jest
  npm run test:release              what only a clock can tell, on a quiet machine
  npm run jest -- PATH              specs alone
`;

const root = fileURLToPath(new URL('../..', import.meta.url));
if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
  process.stdout.write(HELP);
  process.exit();
}
try {
  await usePackages(root, 'npm test', (line) => process.stderr.write(`${line}\n`));
  continueUnderNode(root, 'infra/test/run.ts', process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
