/**
 * Lets a test start the service from its sources as a process of its own, to be killed:
 * `node --conditions=source --import <this file> apps/core/src/main.ts`. Compiles as the build does.
 */
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const configFile = join(import.meta.dirname, '../../../.swcrc');

registerHooks({
  resolve(specifier, context, next) {
    const isOurs = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
    if (isOurs && specifier.endsWith('.js')) {
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
      if (existsSync(source)) return next(source.href, context);
    }
    return next(specifier, context);
  },
  load(url, context, next) {
    if (!url.endsWith('.ts')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), {
      filename,
      configFile,
      sourceMaps: false,
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
