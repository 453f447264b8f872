import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { bodyOf, NEW_RULE, type Rule } from './rule-draft.ts';
import { RuleForm } from './rule-form.tsx';
import { useCreateRule } from './use-rules.ts';

interface NewRulePanelProps {
  onClose: () => void;
  onMade: (rule: Rule) => void;
}

export function NewRulePanel({ onClose, onMade }: NewRulePanelProps): ReactNode {
  const t = useTranslations('loyalty');
  const [draft, setDraft] = useState(NEW_RULE);
  const create = useCreateRule(onMade);
  return (
    <Dialog open onClose={onClose} place="side" title={t('newRule')} lead={t('newRuleLead')}>
      <RuleForm
        draft={draft}
        onChange={setDraft}
        onSend={() => create.mutate(bodyOf(draft))}
        busy={create.isPending}
        error={create.error}
        action={t('createRule')}
      >
        {create.error !== null && <Failure error={create.error} />}
      </RuleForm>
    </Dialog>
  );
}
