import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Outcome, Person, Subject } from './walk.ts';

/** A program that hangs is ended after so long. */
const PATIENCE_MS = 120_000;

/**
 * Runs a client that is a program of its own. It reads the subject from its environment, and speaks by lines: `sign-in`
 * or `sign-out` with an address, which is answered by where the browser has ended; `passed` with the name of a flow;
 * `failed` with a name and a reason.
 * @throws Error where it ends otherwise than by itself
 */
export async function walkOutside(
  command: readonly [program: string, ...args: string[]],
  subject: Subject,
  person: Person,
  tell: (outcome: Outcome) => void,
): Promise<void> {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    env: { ...process.env, SUBJECT: JSON.stringify(subject), PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const stop = (): void => void child.kill('SIGKILL');
  process.once('exit', stop);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const answer = await answerTo(line, person, tell);
      if (answer !== undefined) child.stdin.write(`${answer}\n`);
    }
    const code = await ended;
    if (code !== 0) throw new Error(`${program} ended with ${String(code)}`);
  } finally {
    clearTimeout(timer);
    process.off('exit', stop);
    child.kill('SIGKILL');
  }
}

/** What the program is told; undefined where it has asked nothing. */
async function answerTo(
  line: string,
  person: Person,
  tell: (outcome: Outcome) => void,
): Promise<string | undefined> {
  const [, verb, first = '', rest = ''] = /^(\S+) (\S+)(?: (.*))?$/.exec(line) ?? [];
  switch (verb) {
    case 'sign-in':
      return (await person.signIn(first)).href;
    case 'sign-out':
      return (await person.signOut(first)).href;
    case 'passed':
      return void tell({ flow: first });
    case 'failed':
      return void tell({ flow: first, reason: rest });
    default:
      throw new Error(`This is not understood: ${line}`);
  }
}
