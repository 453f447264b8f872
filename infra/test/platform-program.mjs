/**
 * A whole platform as a program: prints where it is as a line of JSON, and ends with its standard input. It runs from the
 * sources of the testing library, as tests do.
 */
import { join } from 'node:path';
import { GLOBALS, loadSourcesOf } from './runner/sources.mjs';

loadSourcesOf(join(import.meta.dirname, '../..'));
// What belongs to spec files only is not called here.
globalThis[GLOBALS] = {};
const { PlatformUnderTest } = await import('@customer-platform/testing');
const platform = await PlatformUnderTest.start({}, { pages: true });
process.stdin.once('close', () => void platform.stop()).resume();
process.stdout.write(`${JSON.stringify(platform.address)}\n`);
