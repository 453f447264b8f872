import { relative, sep } from 'node:path';
import type { Rule } from 'eslint';

const root = new URL('../../', import.meta.url).pathname;

/** The linted file's path from the workspace root, with forward slashes. */
export function workspacePath(context: Rule.RuleContext): string {
  return relative(root, context.filename).split(sep).join('/');
}
