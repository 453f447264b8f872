import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { readJson } from '../ui/exact-json.ts';
import { TextArea } from '../ui/form.tsx';
import { useInexact } from '../ui/json-fault.ts';
import { toBuilder, toRule, type NewKey, type Node } from './rule.ts';

interface RawJsonProps {
  root: Node;
  newKey: NewKey;
  onChange: (root: Node) => void;
}

/** The rule as the API has it: what is built shows here, and what is written here is built. */
export function RawJson({ root, newKey, onChange }: RawJsonProps): ReactNode {
  const t = useTranslations('segments');
  const inexact = useInexact();
  const rule = JSON.stringify(toRule(root), null, 2);
  // What is typed stands while it is of this rule; once the rule is changed elsewhere, that is shown.
  const [typed, setTyped] = useState({ rule, text: rule });
  const text = typed.rule === rule ? typed.text : rule;
  const write = (changed: string): void => {
    const read = readJson(changed);
    if (!('value' in read)) return setTyped({ rule, text: changed });
    const built = toBuilder(read.value, newKey);
    setTyped({ rule: JSON.stringify(toRule(built), null, 2), text: changed });
    onChange(built);
  };
  const now = readJson(text);
  return (
    <TextArea
      label={t('json')}
      hint={t('jsonLead')}
      error={inexact(now) ?? ('fault' in now ? t('noJson') : undefined)}
      rows={Math.min(24, Math.max(8, text.split('\n').length))}
      className="font-mono text-xs"
      spellCheck={false}
      value={text}
      onChange={({ target }) => write(target.value)}
    />
  );
}
