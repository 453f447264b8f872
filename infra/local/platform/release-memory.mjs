/**
 * Loaded before an app: on SIGUSR2 it gives back the memory that booting took and left as garbage, some 50 MB for
 * each app, which V8 would keep for as long as the app idles.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

export function releaseMemory() {
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

process.on('SIGUSR2', releaseMemory);
