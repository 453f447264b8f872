import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findGoProgram } from '@customer-platform/kit/go-program.ts';

/** A change after which a caller of the release before fails. */
export interface BreakingChange {
  /** What oasdiff calls it. */
  change: string;
  /** `GET /v1/core/events`. */
  operation: string;
  text: string;
}

/** Breaking changes that were decided on, and why. */
interface AcceptedChange {
  change: string;
  operations: string[];
  reason: string;
}

interface OasdiffChange {
  id: string;
  text: string;
  level: number;
  operation?: string;
  path?: string;
}

const OASDIFF = {
  name: 'oasdiff',
  module: 'github.com/oasdiff/oasdiff',
  version: 'v1.35.0',
  probe: ['--version'],
};
const ACCEPTED = join(import.meta.dirname, 'accepted-api-changes.json');
/** oasdiff's level of what breaks callers. Below it is what may: a new code of a problem, say, which is announced. */
const BREAKS = 3;

/** Where oasdiff is. @throws MissingProgram with the remedy */
export function findOasdiff(root: string, say: (line: string) => void): Promise<string> {
  return findGoProgram(OASDIFF, root, say);
}

/** The committed ones. */
export function acceptedChanges(): AcceptedChange[] {
  return JSON.parse(readFileSync(ACCEPTED, 'utf8')) as AcceptedChange[];
}

/** What breaks callers, in requests and in responses, between two OpenAPI documents (files). */
export async function breakingChanges(
  oasdiff: string,
  before: string,
  after: string,
): Promise<BreakingChange[]> {
  const { stdout } = await promisify(execFile)(
    oasdiff,
    ['breaking', before, after, '--format', 'json', '--allow-external-refs=false'],
    { maxBuffer: 256 * 2 ** 20 },
  );
  const changes = (stdout.trim() === '' ? [] : JSON.parse(stdout)) as OasdiffChange[];
  return changes
    .filter(({ level }) => level >= BREAKS)
    .map(({ id, text, operation = '', path = '' }) => ({
      change: id,
      operation: `${operation} ${path}`.trim(),
      text,
    }));
}

/** Those that nobody decided on. */
export function unaccepted(
  changes: readonly BreakingChange[],
  accepted: readonly AcceptedChange[],
): BreakingChange[] {
  const known = new Set(
    accepted.flatMap(({ change, operations }) => operations.map((operation) => `${change} ${operation}`)),
  );
  return changes.filter(({ change, operation }) => !known.has(`${change} ${operation}`));
}
