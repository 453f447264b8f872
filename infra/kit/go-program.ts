import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MissingProgram } from './missing-program.ts';

const run = promisify(execFile);
const BUILT_WITHIN_MS = 570_000;

/** A tool that is written in Go. */
interface GoProgram {
  name: string;
  /** What `go install` takes. */
  module: string;
  version: string;
  /** Arguments with which it ends at once, with 0. */
  probe: string[];
}

/**
 * Where the program is: in the variable of its name (`$K6`), on the path, or built once into `.data/bin` by Go.
 * @throws MissingProgram with the remedy
 */
export async function findGoProgram(
  program: GoProgram,
  root: string,
  say: (line: string) => void,
): Promise<string> {
  const { name, module, version, probe } = program;
  const folder = join(root, '.data', 'bin');
  const built = join(folder, name);
  for (const candidate of [process.env[name.toUpperCase()], name, built]) {
    if (candidate !== undefined && (await works(candidate, probe))) return candidate;
  }
  const go = await findGo();
  if (go === undefined)
    throw new MissingProgram(`${name} is not on the path, and neither is Go, which could build it.`);
  say(`building ${name} ${version} with Go, once (about a minute) …`);
  mkdirSync(folder, { recursive: true });
  try {
    await run(go, ['install', `${module}@${version}`], {
      env: { ...process.env, GOBIN: folder, GOFLAGS: '-mod=mod' },
      timeout: BUILT_WITHIN_MS,
    });
  } catch (cause) {
    const [reason] = (cause as Error).message.split('\n');
    throw new MissingProgram(`${name} is not on the path and could not be built: ${reason}`, { cause });
  }
  if (!existsSync(built)) throw new MissingProgram(`Go built ${name}, but not into ${folder}.`);
  return built;
}

/** On the path, or where Go's own instructions put it. */
export async function findGo(): Promise<string | undefined> {
  for (const candidate of ['go', '/usr/local/go/bin/go'])
    if (await works(candidate, ['version'])) return candidate;
  return undefined;
}

function works(program: string, args: string[]): Promise<boolean> {
  return run(program, args).then(
    () => true,
    () => false,
  );
}
