import { writeFile } from 'node:fs/promises';
import { OWN_OPENAPI } from './own-openapi.js';

// What the gateway itself answers, described beside the descriptions of the modules.
const file = new URL('../openapi.json', import.meta.url);
await writeFile(file, `${JSON.stringify(OWN_OPENAPI, null, 2)}\n`);
