import { initialLogLevel } from '@customer-platform/config';
import { isUuid } from '@customer-platform/database';
import { log, type ModuleName } from '@customer-platform/http';
import { type Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { EXIT, exitCodeOf, sentenceOf, type ExitCode } from './exit-codes.js';

/** What a command is run with. */
export interface Given<Values extends object = object> {
  readonly values: Values;
  /** Of a command that takes one. */
  readonly argument: string;
  /** Prints the one or the other: JSON where `--json` is given. What has no JSON is for people only. */
  readonly print: (json: unknown, text: string) => void;
}

/** One command: what its help says, and what it does. */
export interface PlatformCommand<Values extends object = object> {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  readonly details?: string;
  readonly argument?: Argument;
  /** What the argument is may begin with a dash, and must not be taken for an option. */
  readonly dashes?: boolean;
  /** Beside `--json`, which every command has. */
  readonly options?: readonly Option[];
  /** The variables that it reads, and what they say. */
  readonly environment: Readonly<Record<string, string>>;
  /** When it ends with 1, if it ever does. */
  readonly found?: string;
  /** When it ends with 3, if it ever does. */
  readonly exists?: string;
  /** Whether the log goes on beside what it prints, unless JSON is asked for. */
  readonly logs?: boolean;
  run(given: Given<Values>): Promise<ExitCode>;
}

/** Commands under one word. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly (CommandGroup | PlatformCommand)[];
}

/** A command of a module, or several. */
export type CommandOf = (module: ModuleName) => CommandGroup | PlatformCommand;

/** What the program is made of. */
interface PlatformOptions {
  readonly module: ModuleName;
  readonly commands: readonly CommandOf[];
  /** Default: what follows the script's name on the command line. */
  readonly args?: readonly string[];
  /** Default: standard output. */
  readonly write?: (text: string) => void;
  /** Default: standard error. */
  readonly writeError?: (text: string) => void;
}

/** The id of an organization. */
export const organizationOption = (description: string): Option =>
  new Option('--organization <id>', description).argParser((text) => {
    if (isUuid(text.toLowerCase())) return text.toLowerCase();
    throw new InvalidArgumentError('It takes the id of an organization.');
  });

/**
 * The operators' program of a module, the whole of an app's `platform.ts`.
 * @returns the exit code
 */
export async function runPlatform(options: PlatformOptions): Promise<ExitCode> {
  const { module, args = process.argv.slice(2) } = options;
  const { write = (text) => process.stdout.write(text), writeError = (text) => process.stderr.write(text) } =
    options;
  let code: ExitCode = EXIT.done;
  const run = async (command: PlatformCommand, given: Command, argument: string): Promise<void> => {
    const values = given.opts<{ json?: boolean }>();
    // Standard output is the command's answer.
    if (!command.logs || values.json) log.level = 'silent';
    const print = (json: unknown, text: string): void => {
      if (!values.json) write(`${text}\n`);
      else if (json !== undefined) write(`${JSON.stringify(json)}\n`);
    };
    code = await command.run({ values, argument, print });
  };
  const program = new Command('platform')
    .description(
      `Operators' commands of ${module}: node apps/${module}/dist/platform.js in its image,\n` +
        `npm run platform -- --module ${module} in a checkout.`,
    )
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: write,
      writeErr: writeError,
      outputError: (message) => writeError(`${message.trim().replace(/^error: /, '')} (see --help)\n`),
    });
  for (const commandOf of options.commands) add(program, commandOf(module), run);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    // Commander has said already what is wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.failed;
    writeError(`${sentenceOf(error)}\n`);
    if (initialLogLevel() === 'debug' && error instanceof Error) writeError(`${error.stack ?? ''}\n`);
    return exitCodeOf(error);
  }
}

function add(
  parent: Command,
  node: CommandGroup | PlatformCommand,
  run: (command: PlatformCommand, given: Command, argument: string) => Promise<void>,
): void {
  const command = parent.command(node.name).summary(node.summary).helpCommand(false);
  if ('commands' in node) {
    command.description(node.summary);
    for (const below of node.commands) add(command, below, run);
    return;
  }
  command.description([node.summary, ...(node.details ? [node.details] : [])].join('\n\n'));
  if (node.argument) command.addArgument(node.argument);
  if (node.dashes) command.allowUnknownOption();
  for (const option of node.options ?? []) command.addOption(option);
  command.option('--json', 'prints JSON').addHelpText('after', `\n${factsOf(node)}`);
  command.action(() => run(node, command, String(command.processedArgs[0] ?? '')));
}

function factsOf({ environment, found, exists }: PlatformCommand): string {
  const exits: Record<string, string> = {
    '0': 'done',
    ...(found === undefined ? {} : { '1': found }),
    '2': 'wrong usage, or it could not be done; standard error says why',
    ...(exists === undefined ? {} : { '3': exists }),
  };
  return `Environment:\n${table(environment)}\n\nExit codes:\n${table(exits)}`;
}

function table(rows: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(rows).map(({ length }) => length)) + 2;
  return Object.entries(rows)
    .map(([name, meaning]) => `  ${name.padEnd(width)}${meaning}`)
    .join('\n');
}
