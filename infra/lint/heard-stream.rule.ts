import type { Rule } from 'eslint';
import type { ClassDeclaration, ClassExpression, Expression, Super, VariableDeclarator } from 'estree';

const STREAMS = /^(?:Readable|Writable|Duplex|Transform|PassThrough)$/;
const MAKERS = /^(?:create(?:Gunzip|Gzip|Inflate|Deflate|Unzip|Brotli\w+|ReadStream|WriteStream)|Readable)$/;
/** Who is given a stream and hears it fail; whoever returns it gives it on. */
const HEARERS = String.raw`(?:pipeline|finished|of|StreamableFile)\s*\([^;]*\b`;

function makesStream(node: Expression | null | undefined): boolean {
  if (node?.type === 'NewExpression')
    return node.callee.type === 'Identifier' && STREAMS.test(node.callee.name);
  if (node?.type !== 'CallExpression') return false;
  const made: Expression | Super = node.callee.type === 'MemberExpression' ? node.callee.object : node.callee;
  return made.type === 'Identifier' && MAKERS.test(made.name);
}

/**
 * A stream is made with somebody who hears it fail: an `error` event without a listener ends the process, and with it
 * every organization's requests. A class of streams listens in its own constructor, as whoever it is given to may come
 * to listen late; a stream in a variable is listened to, or given to `pipeline` or a loop, in the same function.
 */
export const heardStream: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      unheardClass:
        "This class's constructor listens to its own `error`: who is given the stream may listen too late.",
      unheard: 'Nobody hears this stream fail: listen to its `error`, or give it to `pipeline` or a loop.',
    },
  },
  create(context) {
    const { sourceCode } = context;
    const judgeClass = (node: (ClassDeclaration | ClassExpression) & Rule.NodeParentExtension): void => {
      const { superClass, body } = node;
      if (superClass?.type !== 'Identifier' || !STREAMS.test(superClass.name)) return;
      const constructor = body.body.find(
        (member) => member.type === 'MethodDefinition' && member.kind === 'constructor',
      );
      const text = constructor ? sourceCode.getText(constructor) : '';
      if (!/\bthis\s*\.\s*on\(\s*'error'/.test(text))
        context.report({ node: superClass, messageId: 'unheardClass' });
    };
    return {
      ClassDeclaration: judgeClass,
      ClassExpression: judgeClass,
      VariableDeclarator(node: VariableDeclarator & Rule.NodeParentExtension) {
        if (node.id.type !== 'Identifier' || !makesStream(node.init)) return;
        const scope = sourceCode.getText(sourceCode.getScope(node).block);
        const { name } = node.id;
        const heard = new RegExp(
          String.raw`\b${name}\s*\.\s*on(?:ce)?\(\s*'error'|${HEARERS}${name}\b|await\s*\([^)]*\bof ${name}\b|\bcollect\(${name}\b|return ${name}\b`,
          'u',
        );
        if (!heard.test(scope)) context.report({ node, messageId: 'unheard' });
      },
    };
  },
};
