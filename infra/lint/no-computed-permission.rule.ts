import type { Rule } from 'eslint';
import type { Node } from 'estree';

const COMPUTED = new Set(['TemplateLiteral', 'BinaryExpression', 'CallExpression', 'ConditionalExpression']);

/**
 * A permission is a literal that a search finds: never put together from pieces, never forced with a cast.
 * Text from outside becomes one through `isPermission`.
 */
export const noComputedPermission: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      computed: 'Write the permission as a literal: names do not derive from paths or from other names.',
      cast: 'Text becomes a Permission by isPermission(), not by a cast.',
    },
  },
  create(context) {
    const checkValue = (node: Node): void => {
      if (COMPUTED.has(node.type)) context.report({ node, messageId: 'computed' });
    };
    const reportCast = (node: Rule.Node): void => context.report({ node, messageId: 'cast' });
    return {
      'Property[key.name="permission"]'(node: Rule.Node) {
        if (node.type === 'Property' && node.value.type !== 'CallExpression') checkValue(node.value);
      },
      'CallExpression[callee.property.name="can"]'(node: Rule.Node) {
        if (node.type === 'CallExpression') node.arguments.slice(0, 1).forEach(checkValue);
      },
      'TSAsExpression > TSTypeReference[typeName.name="Permission"]': reportCast,
      'TSTypeAssertion > TSTypeReference[typeName.name="Permission"]': reportCast,
    };
  },
};
