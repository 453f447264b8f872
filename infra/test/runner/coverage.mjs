import { readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceMaps } from './sources.mjs';

/** Where `npm run mutants` wants to have which lines of which sources each spec file runs; undefined in other runs. */
const folder = process.env.SPEC_COVERAGE;
const OURS = /^(?:apps|libs)\/[a-z-]+\/src\/(?!.*\.(?:spec|fixture|suite)\.ts$)/;

let session;

/** Begins to count what is run, before the first source is loaded. */
export async function watchCoverage() {
  if (folder === undefined || session) return;
  session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
}

/**
 * Writes what a spec file has run since the one before: `{ spec, green, seconds, lines: { path: [line, …] } }`. What a
 * source does when it is loaded stands with the first file of a worker alone.
 */
export async function noteCoverage(root, spec, { numFailingTests }, seconds) {
  if (!session) return;
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const lines = {};
  for (const { url, functions } of result) {
    const path = url.startsWith('file:') ? relative(root, fileURLToPath(url.replace(/\?.*$/, ''))) : '';
    if (!OURS.test(path) || !sourceMaps.has(url)) continue;
    const run = linesRun(sourceMaps.get(url), functions);
    if (run.length > 0) lines[path] = run;
  }
  const name = relative(root, spec);
  const note = { spec: name, green: numFailingTests === 0, seconds, lines };
  writeFileSync(join(folder, `${name.replaceAll('/', '+')}.json`), JSON.stringify(note));
}

/** Lines of the source that were run; `map` names the file of its source map, beside which the compiled code lies. */
function linesRun(map, functions) {
  const code = readFileSync(map.replace(/\.map$/, ''), 'utf8');
  const counts = new Int32Array(code.length);
  // Inner blocks come after what they are in.
  for (const { ranges } of functions)
    for (const { startOffset, endOffset, count } of ranges) counts.fill(count, startOffset, endOffset);
  const places = new SourceMap(JSON.parse(readFileSync(map, 'utf8')));
  const run = new Set();
  let offset = 0;
  for (const [number, line] of code.split('\n').entries()) {
    const column = line.search(/\S/);
    if (column >= 0 && counts[offset + column] > 0) {
      const { originalLine } = places.findEntry(number, column);
      if (originalLine !== undefined) run.add(originalLine + 1);
    }
    offset += line.length + 1;
  }
  return [...run].sort((a, b) => a - b);
}
