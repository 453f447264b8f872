import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BUNDLE = `
import { rolldown } from 'rolldown';
const bundle = await rolldown({ input: process.argv[1], platform: 'browser', logLevel: 'silent' });
const { output } = await bundle.generate({ format: 'es', minify: true });
if (output.length !== 1) throw new Error('One file was expected, not ' + output.length);
process.stdout.write(output[0].code);`;

/** The sender as a page gets it: one minified module. The bundler tells values of Jest's own realm from the process's. */
export async function bundled(entry = 'index.ts'): Promise<string> {
  const input = join(import.meta.dirname, entry);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', BUNDLE, input],
    {
      cwd: import.meta.dirname,
      env: { ...process.env, NODE_OPTIONS: '' },
    },
  );
  return stdout;
}
