/** Fails when a generated file is not what its generator writes now. Leaves the files as they were. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateAll, generatedFiles, textOf } from './generated-files.ts';

const root = join(import.meta.dirname, '../..');
const before = new Map(generatedFiles.map((file) => [file, textOf(file)]));

function restore(): void {
  for (const [file, text] of before) {
    if (text !== undefined && text !== textOf(file)) writeFileSync(join(root, file), text);
    else if (text === undefined && existsSync(join(root, file))) rmSync(join(root, file));
  }
}

let stale: string[];
try {
  await generateAll();
  stale = generatedFiles.filter((file) => textOf(file) !== before.get(file));
} finally {
  restore();
}
for (const file of stale) console.error(`Stale: ${file}`);
console.log(
  stale.length > 0
    ? `${stale.length} generated files are stale: run \`npm run generate\` and commit them.`
    : `${generatedFiles.length} generated files are fresh.`,
);
process.exitCode = stale.length > 0 ? 1 : 0;
