import { join } from 'node:path';
import { AppProcess, WORKSPACE } from './app-process.js';

/** The end of a command. */
export interface EndedCommand {
  readonly status: number;
  /** The text that it printed; where it ended with another status than 0 and printed nothing, what it said of that. */
  readonly output: string;
}

const addressOf = (port: number): string => `http://127.0.0.1:${String(port)}/`;

/** A process that runs commands of the operators' program at this path, and stays for the next one (command-program.ts). */
export function commandProcess(
  name: string,
  program: string,
  port: number,
  env: Record<string, string>,
): AppProcess {
  return new AppProcess(
    name,
    'libs/testing/src/command-program.ts',
    { ...env, COMMAND_PROGRAM: join(WORKSPACE, program), COMMAND_PORT: String(port) },
    addressOf(port),
  );
}

/** Has a command run by the process that listens on this port. */
export async function runCommand(port: number, words: readonly string[]): Promise<EndedCommand> {
  const answer = await fetch(addressOf(port), { method: 'POST', body: JSON.stringify(words) });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as EndedCommand;
}
