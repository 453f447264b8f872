/**
 * `node infra/compatibility/check-openapi.ts [REF] [--publish]`
 *
 * Holds docs/openapi.json against that of REF (the commit before, unless given): ends with exit code 1 where a request
 * that was accepted is refused now, or an answer is not what it was, and accepted-api-changes.json gives no reason for
 * it. In a clone without that commit the document of the last release takes its place. `--publish` writes that one, at a
 * release. Ends with exit code 77 where oasdiff is not here and cannot be built: nothing was judged.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { MissingProgram } from '@customer-platform/kit/missing-program.ts';
import { ROOT } from '@customer-platform/local/platform/modules.ts';
import { acceptedChanges, breakingChanges, findOasdiff, unaccepted } from './openapi-changes.ts';

const SKIPPED = 77;
const DOCUMENT = 'docs/openapi.json';
const RELEASED = join(ROOT, 'docs/released-openapi.json.gz');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { publish: { type: 'boolean', default: false } },
});

/** The document as a commit has it; undefined in a clone that lacks the commit. */
function documentOf(ref: string): string | undefined {
  try {
    return execFileSync('git', ['show', `${ref}:${DOCUMENT}`], {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 64 * 2 ** 20,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}

async function judge(): Promise<void> {
  const [ref = 'HEAD~1'] = positionals;
  const found = documentOf(ref);
  if (found === undefined && positionals.length > 0) throw new Error(`This clone has no ${ref}:${DOCUMENT}.`);
  const against = found === undefined ? 'the last release' : ref;
  if (found === undefined)
    console.log(`This clone has no ${ref}: judged against the document of the last release.`);
  const folder = mkdtempSync(join(tmpdir(), 'customer-platform-openapi-'));
  try {
    const before = join(folder, 'before.json');
    writeFileSync(before, found ?? gunzipSync(readFileSync(RELEASED)));
    const oasdiff = await findOasdiff(ROOT, console.log);
    const all = await breakingChanges(oasdiff, before, join(ROOT, DOCUMENT));
    const changes = unaccepted(all, acceptedChanges());
    for (const { change, operation, text } of changes) console.log(`${operation}: ${change}: ${text}`);
    const accepted = all.length - changes.length;
    console.log(`Against ${against}: ${changes.length} breaking changes, ${accepted} accepted ones.`);
    if (changes.length > 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (values.publish) writeFileSync(RELEASED, gzipSync(readFileSync(join(ROOT, DOCUMENT)), { level: 9 }));
else
  await judge().catch((error: Error) => {
    console.log(error.message);
    process.exitCode = error instanceof MissingProgram ? SKIPPED : 1;
  });
