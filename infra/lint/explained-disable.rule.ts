import type { Rule } from 'eslint';

/** A rule is switched off for a reason, and the reason stands beside it: `eslint-disable-next-line rule -- why`. */
export const explainedDisable: Rule.RuleModule = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      unexplained: 'Say why after " -- ", at least in a few words.',
      blanket: 'Name the rule that is switched off.',
    },
  },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const directive =
            /^\s*eslint-disable(?:-next-line|-line)?(?<rules>[^]*?)(?:\s--\s(?<why>[^]*))?$/.exec(
              comment.value,
            );
          if (!directive || !comment.loc) continue;
          if (!directive.groups?.['rules']?.trim())
            context.report({ loc: comment.loc, messageId: 'blanket' });
          if ((directive.groups?.['why']?.trim().length ?? 0) < 10)
            context.report({ loc: comment.loc, messageId: 'unexplained' });
        }
      },
    };
  },
};
