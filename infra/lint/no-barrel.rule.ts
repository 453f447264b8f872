import type { Rule } from 'eslint';
import { workspacePath } from './workspace-path.ts';

const PUBLIC_INTERFACE = /^libs\/[^/]+\/src\/index\.ts$/;
/** The list of a module's migrations, in their order; it re-exports nothing. */
const MIGRATIONS = /^apps\/[^/]+\/src\/migrations\/index\.ts$/;

/** Re-exports stand only in a library's own `src/index.ts`: an import says where the code is. */
export const noBarrel: Rule.RuleModule = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      reexport: 'Re-exports belong in a library’s src/index.ts only: import from where the code is.',
      index: 'No index.ts but a library’s src/index.ts and a module’s list of migrations.',
    },
  },
  create(context) {
    const path = workspacePath(context);
    if (PUBLIC_INTERFACE.test(path)) return {};
    const report = (node: Rule.Node): void => context.report({ node, messageId: 'reexport' });
    return {
      Program(node) {
        if (/(^|\/)index\.[cm]?ts$/.test(path) && !MIGRATIONS.test(path))
          context.report({ node, loc: { line: 1, column: 0 }, messageId: 'index' });
      },
      ExportAllDeclaration: report,
      'ExportNamedDeclaration[source]': report,
    };
  },
};
