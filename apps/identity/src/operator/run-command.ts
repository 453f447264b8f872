import 'reflect-metadata';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { ConfigError } from '@customer-platform/config';
import { isDatabaseUnavailable, postgresFailure } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Operator, OperatorRefusal } from './operator.js';
import { OperatorModule } from './operator.module.js';

/** Postgres: a table that is not there. */
const UNDEFINED_TABLE = '42P01';

type Options = NonNullable<ParseArgsConfig['options']>;

/** Values of the options as given; a `multiple` one is a list. */
export type OptionValues = Record<string, string | boolean | (string | boolean)[] | undefined>;

/** One operator's command. */
export interface Command {
  /** Shown by `--help`. */
  help: string;
  options: Options;
  /** Whether a word without a dash is taken. */
  takesWord?: boolean;
  /** Does the work; returns what is printed to standard output. */
  run(operator: Operator, values: OptionValues, word: string | undefined): Promise<string>;
}

/**
 * Runs a command as a process: parses its arguments, works on the database of `DATABASE_URL`, prints, sets the exit
 * code. A refusal is one sentence on standard error.
 */
export async function runCommand(command: Command, args = process.argv.slice(2)): Promise<void> {
  try {
    const { values, positionals } = parse(command, args);
    if (values['help']) {
      process.stdout.write(`${command.help.trim()}\n`);
      return;
    }
    process.stdout.write(
      `${await withOperator((operator) => command.run(operator, values, positionals[0]))}\n`,
    );
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === undefined) throw error;
    process.stderr.write(`${sentence}\n`);
    process.exitCode = error instanceof OperatorRefusal ? error.exitCode : 1;
  }
}

function parse(command: Command, args: string[]): { values: OptionValues; positionals: string[] } {
  const options: Options = { ...command.options, help: { type: 'boolean', short: 'h' } };
  try {
    return parseArgs({ args, options, allowPositionals: command.takesWord ?? false });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorRefusal(`${reason} See --help.`, 2);
  }
}

async function withOperator<T>(work: (operator: Operator) => Promise<T>): Promise<T> {
  log.level = 'silent'; // standard output is the command's answer
  const context = await NestFactory.createApplicationContext(OperatorModule, {
    logger: false,
    abortOnError: false,
  });
  try {
    return await work(context.get(Operator));
  } finally {
    await context.close();
  }
}

/** What an operator is told of an expected failure; anything else is a defect and shows its stack. */
function sentenceOf(error: unknown): string | undefined {
  if (isDatabaseUnavailable(error)) return 'The database of DATABASE_URL does not answer.';
  if (postgresFailure(error)?.code === UNDEFINED_TABLE)
    return 'The database is not migrated: run migrate.js first.';
  return error instanceof OperatorRefusal || error instanceof ConfigError || error instanceof Problem
    ? error.message
    : undefined;
}
