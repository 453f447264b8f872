import type { Rule } from 'eslint';
import { workspacePath } from './workspace-path.ts';

const PUBLIC_INTERFACE = /^libs\/[^/]+\/src\/index\.ts$/;

/** Re-exports stand only in a library's own `src/index.ts`: an import says where the code is. */
export const noBarrel: Rule.RuleModule = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      reexport: 'Re-exports belong in a library’s src/index.ts only: import from where the code is.',
      index: 'No index.ts but a library’s src/index.ts.',
    },
  },
  create(context) {
    const path = workspacePath(context);
    if (PUBLIC_INTERFACE.test(path)) return {};
    const report = (node: Rule.Node): void => context.report({ node, messageId: 'reexport' });
    return {
      Program(node) {
        if (/(^|\/)index\.[cm]?ts$/.test(path))
          context.report({ node, loc: { line: 1, column: 0 }, messageId: 'index' });
      },
      ExportAllDeclaration: report,
      'ExportNamedDeclaration[source]': report,
    };
  },
};
