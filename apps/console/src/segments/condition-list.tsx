import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button, IconButton } from '../ui/button.tsx';
import { TextField } from '../ui/form.tsx';
import type { Condition, NewKey, Op } from './rule.ts';
import { TestFields } from './test-fields.tsx';
import type { Fault } from '../ui/problem-at.ts';
import { FaultText } from '../ui/problem-words.tsx';

interface ConditionListProps {
  conditions: readonly Condition[];
  onChange: (conditions: readonly Condition[]) => void;
  newKey: NewKey;
  /** What is wrong at a pointer below the list: `/0/value`; the list itself has none. */
  problemAt: (path: string) => Fault | undefined;
  /** What one can be compared by; all unless given. */
  ops?: readonly Op[];
  /** What is compared, where it is no property of an event. */
  label?: string;
  placeholder?: string;
  /** What adds another. */
  addLabel?: string;
}

/** Conditions on properties, one below the other. */
export function ConditionList(props: ConditionListProps): ReactNode {
  const { conditions, onChange, newKey, problemAt, ops, label, placeholder, addLabel } = props;
  const t = useTranslations('segments');
  const more = (): Condition => ({
    key: newKey(),
    property: '',
    op: 'eq',
    drafts: [{ as: 'text', text: '' }],
  });
  const wrong = problemAt('');
  return (
    <div className="flex flex-col gap-2">
      {conditions.map((condition, at) => (
        <fieldset key={condition.key} className="rounded-control bg-ground p-2.5">
          <legend className="sr-only">{t('conditionAt', { at: at + 1 })}</legend>
          <div className="flex items-start gap-2">
            <div className="grid min-w-0 grow gap-3 sm:grid-cols-[2fr_2fr_3fr]">
              <TextField
                label={label ?? t('property')}
                className="field font-mono"
                spellCheck={false}
                placeholder={placeholder}
                value={condition.property}
                error={problemAt(`/${at}/property`)}
                onChange={({ target }) =>
                  onChange(conditions.with(at, { ...condition, property: target.value }))
                }
              />
              <TestFields
                test={condition}
                error={problemAt(`/${at}/value`)}
                onChange={(test) => onChange(conditions.with(at, { ...condition, ...test }))}
                {...(ops === undefined ? {} : { ops })}
              />
            </div>
            <IconButton
              label={t('removeCondition', { at: at + 1 })}
              onClick={() => onChange(conditions.toSpliced(at, 1))}
            >
              <X aria-hidden className="size-4" />
            </IconButton>
          </div>
        </fieldset>
      ))}
      {wrong !== undefined && (
        <p className="text-xs text-bad">
          <FaultText fault={wrong} />
        </p>
      )}
      <span>
        <Button look="quiet" className="px-2!" onClick={() => onChange([...conditions, more()])}>
          <Plus aria-hidden className="size-4" />
          {addLabel ?? t('addCondition')}
        </Button>
      </span>
    </div>
  );
}
