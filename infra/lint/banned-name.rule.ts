import type { Rule } from 'eslint';
import type { Identifier } from 'estree';

const VAGUE = /(Manager|Helper|Helpers|Util|Utils|Base)$|^Base(?=[A-Z])/;

/** Classes, functions, interfaces and types carry the field's own word, not one that fits anything. */
export const bannedName: Rule.RuleModule = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { vague: '"{{name}}" says nothing about the field: name what it is or does.' },
  },
  create(context) {
    const check = (id: Identifier | null | undefined): void => {
      if (id && VAGUE.test(id.name))
        context.report({ node: id, messageId: 'vague', data: { name: id.name } });
    };
    const checkDeclared = (node: Rule.Node): void => check((node as unknown as { id?: Identifier }).id);
    return {
      ClassDeclaration: checkDeclared,
      FunctionDeclaration: checkDeclared,
      TSInterfaceDeclaration: checkDeclared,
      TSTypeAliasDeclaration: checkDeclared,
    };
  },
};
