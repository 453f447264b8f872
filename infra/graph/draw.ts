/** `npm run graph [-- FILE.svg]`: draws who imports whom, from the sources, into docs/dependencies.svg. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { packageGraph } from './packages.ts';
import { svgOf } from './svg.ts';

const file = resolve(process.argv[2] ?? `${import.meta.dirname}/../../docs/dependencies.svg`);
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, svgOf(await packageGraph()));
console.log(`Drawn: ${file}`);
