import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import type { NewFormProps } from '../ui/list-page.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useNewDraft } from '../ui/use-draft.tsx';
import { bodyOf, NEW_RULE } from './rule-draft.ts';
import { RuleForm } from './rule-form.tsx';
import { useRulesChanged } from './use-rules.ts';

export function NewRulePanel({ onClose, onMade }: NewFormProps): ReactNode {
  const t = useTranslations('loyalty');
  const api = useApi();
  const changed = useRulesChanged();
  const form = useNewDraft({
    keptAs: 'loyalty-rules/new',
    begin: () => NEW_RULE,
    create: async (draft) => (await api.POST('/v1/loyalty/rules', { body: bodyOf(draft) })).data,
    said: ({ name }) => t('ruleMade', { name }),
    changed,
    onMade,
  });
  return (
    <Dialog open onClose={onClose} place="side" title={t('newRule')} lead={t('newRuleLead')}>
      <RuleForm {...form} action={t('createRule')} />
    </Dialog>
  );
}
