import { basename, dirname } from 'node:path/posix';
import type { Rule } from 'eslint';
import type { Node } from 'estree';
import { workspacePath } from './workspace-path.ts';

const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const CATCH_ALL = /^(common|shared|utils?|helpers?|misc)$/;
const VAGUE_FOLDER = /^(dto|interfaces)$/;
const VAGUE_FILE = /^(types|constants)$/;
const MIGRATION = /^\d{13,14}-[a-z0-9]+(-[a-z0-9]+)+\.ts$/;

/** The import rules know a file by its role, so what a class is must show in the name of its file. */
const ROLE_OF_DECORATOR = new Map([
  // Nest takes event handlers from controllers only; one that serves no route is a consumer.
  ['Controller', ['controller', 'consumer']],
  ['Entity', ['entity']],
  ['Module', ['module']],
]);

interface Decorated {
  decorators?: { expression: Node }[];
}

function decoratorNames(node: Rule.Node): string[] {
  return ((node as unknown as Decorated).decorators ?? []).flatMap(({ expression }) => {
    const callee = expression.type === 'CallExpression' ? expression.callee : expression;
    return callee.type === 'Identifier' ? [callee.name] : [];
  });
}

/** What is wrong with the path itself, as pairs of message and the part it is about. */
function pathProblems(path: string): [string, string][] {
  const folders = dirname(path)
    .split('/')
    .filter((folder) => folder !== '.');
  const problems = folders.flatMap((folder): [string, string][] => {
    if (CATCH_ALL.test(folder) || VAGUE_FOLDER.test(folder)) return [['vagueFolder', folder]];
    return KEBAB.test(folder) ? [] : [['kebab', folder]];
  });
  const file = basename(path);
  if (folders.at(-1) === 'migrations' && /^\d/.test(file))
    return MIGRATION.test(file) ? problems : [...problems, ['migration', file]];
  const parts = file.replace(/\.[cm]?tsx?$/, '').split('.');
  if (!parts.every((part) => KEBAB.test(part))) return [...problems, ['kebab', file]];
  const name = parts[0] ?? '';
  return CATCH_ALL.test(name) || VAGUE_FILE.test(name) ? [...problems, ['vagueFile', file]] : problems;
}

/** File names are `kebab-case.role.ts`; migrations `<timestamp>-<verb>-<noun>.ts`; no folder or file is a catch-all. */
export const fileName: Rule.RuleModule = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      kebab: '"{{name}}" is not kebab-case.role.ts.',
      role: 'A class with @{{decorator}} stands in a file named after its role: {{role}}.',
      migration: '"{{name}}" is not <timestamp>-<verb>-<noun>.ts.',
      vagueFolder: 'No folder is named "{{name}}": put the file with the feature it serves.',
      vagueFile: 'No file is named "{{name}}": name what it holds.',
    },
  },
  create(context) {
    const path = workspacePath(context);
    const isSpec = /\.(e2e-|release-)?spec\.ts$/.test(path);
    return {
      Program(node) {
        for (const [messageId, name] of pathProblems(path))
          context.report({ node, loc: { line: 1, column: 0 }, messageId, data: { name } });
      },
      ClassDeclaration(node) {
        for (const decorator of decoratorNames(node)) {
          const roles = ROLE_OF_DECORATOR.get(decorator) ?? [];
          if (roles.length > 0 && !isSpec && !roles.some((role) => path.endsWith(`.${role}.ts`)))
            context.report({ node, messageId: 'role', data: { decorator, role: roles.join(' or ') } });
        }
      },
    };
  },
};
