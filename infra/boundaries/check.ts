/** Checks the import rules on the workspace, then proves by fixtures that every rule catches what it forbids. */
import { checkImportFixtures, checkWorkspaceImports } from './import-rules.ts';
import { checkLintFixtures } from './lint-rules.ts';
import { checkTypedRules } from './typed-rules.ts';

const violations = await checkWorkspaceImports();
const imports = await checkImportFixtures();
const lint = await checkLintFixtures();
const typed = await checkTypedRules();
const failures = [...violations, ...imports.failures, ...lint.failures, ...typed.failures];

for (const failure of failures) console.error(`  ${failure}`);
console.log(
  `${failures.length === 0 ? 'Boundaries hold' : `${failures.length} boundary failures`}: ` +
    `${imports.proved.length} import rules and ${lint.proved.length + typed.proved.length} lint rules proved by fixtures.`,
);
process.exitCode = failures.length === 0 ? 0 : 1;
