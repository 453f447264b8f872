/** `npm run client:size`: what the client costs a page that bundles it. With `--json` the bundle itself. */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

// All that the package exports with its dependency, needed by the page or not.
const built = await rolldown({
  input: fileURLToPath(new URL('dist/index.js', import.meta.url)),
  platform: 'browser',
  treeshake: false,
});
const { output } = await built.generate({ format: 'esm', minify: true });
await built.close();
const [{ code, imports, dynamicImports }] = output;

if (process.argv.includes('--json')) {
  process.stdout.write(JSON.stringify({ code, imports: [...imports, ...dynamicImports] }));
} else {
  const gzipped = gzipSync(code, { level: 9 }).length;
  process.stdout.write(`@customer-platform/client: ${code.length} bytes minified, ${gzipped} gzipped\n`);
}
