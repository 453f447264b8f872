import type { Rule } from 'eslint';
import type { TemplateLiteral } from 'estree';

const SUBSELECT = /\b(?:IN|FROM|JOIN|USING)\s*\(\s*SELECT\b/giu;
const LIMITED_LOCK = /\b(?:LIMIT|OFFSET|FETCH)\b[^]*\bFOR (?:NO KEY )?(?:UPDATE|SHARE)\b/iu;

/**
 * Rows that are limited and locked are taken in a WITH: PostgreSQL may run a subselect of IN or FROM once for each row
 * of the other side, where every run locks the next rows, and the statement changes more than its limit.
 */
export const noRescannedLock: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      rescanned:
        'Take limited rows FOR UPDATE in a WITH: a subselect may be run again, and locks further rows each time.',
    },
  },
  create(context) {
    return {
      TemplateLiteral(node: TemplateLiteral & Rule.NodeParentExtension) {
        const text = node.quasis.map(({ value }) => value.raw).join('?');
        for (const { index, 0: opening } of text.matchAll(SUBSELECT))
          if (LIMITED_LOCK.test(ownText(text, index + opening.indexOf('('))))
            context.report({ node, messageId: 'rescanned' });
      },
    };
  },
};

/** What stands between this parenthesis and the one that closes it, without what inner ones enclose. */
function ownText(text: string, from: number): string {
  let own = '';
  let depth = 0;
  for (const character of text.slice(from)) {
    if (character === ')') depth -= 1;
    if (depth === 1) own += character;
    if (character === '(') depth += 1;
    if (depth === 0) break;
  }
  return own;
}
