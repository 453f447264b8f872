import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Rule } from 'eslint';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The linted file's path from the workspace root, with forward slashes. */
export function workspacePath(context: Rule.RuleContext): string {
  return relative(root, context.filename).split(sep).join('/');
}
