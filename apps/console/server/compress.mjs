/**
 * Beside each file of a folder that is worth it, the same compressed: `node compress.mjs dist/web`. Once at build time,
 * as well as it can be done, so that no request waits for it.
 */
import { globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** What fits into one packet is not sent faster by being smaller. */
const LEAST_BYTES = 1_024;
const FORMS = {
  '.br': (bytes) =>
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  '.gz': (bytes) => gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }),
};

const [folder] = process.argv.slice(2);
statSync(folder); // throws a sentence where there is none
for (const name of globSync('**/*.{br,gz}', { cwd: folder })) rmSync(join(folder, name));
for (const name of globSync('**/*.{css,html,js,json,svg,txt,webmanifest}', { cwd: folder })) {
  const bytes = readFileSync(join(folder, name));
  if (bytes.length < LEAST_BYTES) continue;
  for (const [ending, compress] of Object.entries(FORMS)) {
    const compressed = compress(bytes);
    if (compressed.length < bytes.length) writeFileSync(join(folder, name + ending), compressed);
  }
}
