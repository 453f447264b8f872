import { isDatabaseUnavailable, postgresFailure } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';

/** What every command ends with. */
export const EXIT = {
  /** All that was meant is done, and nothing is left. */
  done: 0,
  /** Done, and something was found or is left; what, the help of the command says. */
  found: 1,
  /** Wrong usage, or it could not be done; one sentence on standard error says why. */
  failed: 2,
  /** What was to be made exists already; nothing was changed. */
  exists: 3,
} as const;

/** One of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command cannot be carried out; the message is one sentence for the operator. */
export class CommandRefusal extends Error {
  override readonly name = 'CommandRefusal';
  constructor(
    message: string,
    readonly exitCode: ExitCode = EXIT.failed,
  ) {
    super(message);
  }
}

/** Postgres: a table that is not there. */
const UNDEFINED_TABLE = '42P01';

/** What an operator is told of a failure. */
export function sentenceOf(error: unknown): string {
  if (postgresFailure(error)?.code === UNDEFINED_TABLE)
    return 'The database is not migrated: run "platform migrate" first.';
  const message = error instanceof Error ? error.message || error.name : String(error);
  return isDatabaseUnavailable(error) && !(error instanceof Problem)
    ? `The database does not answer: ${message}`
    : message;
}

/** What a command ends with that threw. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandRefusal) return error.exitCode;
  return error instanceof Problem && error.code === 'duplicate_value' ? EXIT.exists : EXIT.failed;
}
