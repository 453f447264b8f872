import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button, IconButton } from '../ui/button.tsx';
import { Checkbox } from '../ui/form.tsx';
import type { EnumOption } from './object.ts';
import type { Fault } from '../ui/problem-at.ts';
import { FaultText } from '../ui/problem-words.tsx';

const MOST_OPTIONS = 200;

interface OptionsEditorProps {
  options: readonly EnumOption[];
  problem: (at: string) => Fault | undefined;
  onChange: (options: readonly EnumOption[]) => void;
}

/** What one can choose from: a value that programs read, a name that people read. */
export function OptionsEditor({ options, problem, onChange }: OptionsEditorProps): ReactNode {
  const t = useTranslations('objects');
  const wrong = problem('');
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 text-xs font-medium">{t('options')}</legend>
      {wrong !== undefined && (
        <p className="text-xs text-bad">
          <FaultText fault={wrong} />
        </p>
      )}
      {options.map((option, at) => {
        const set = (changed: Partial<EnumOption>): void =>
          onChange(options.with(at, { ...option, ...changed }));
        const number = at + 1;
        const wrong =
          problem(`/${String(at)}/value`) ?? problem(`/${String(at)}/label`) ?? problem(`/${String(at)}`);
        return (
          <div key={at} className="flex flex-col gap-1">
            <div className="flex flex-wrap items-center gap-2">
              <input
                aria-label={t('optionValue', { at: number })}
                className="field min-w-0 grow basis-28 font-mono"
                placeholder={t('value')}
                required
                maxLength={200}
                autoComplete="off"
                aria-invalid={wrong !== undefined}
                value={option.value}
                onChange={({ target }) => set({ value: target.value })}
              />
              <input
                aria-label={t('optionLabel', { at: number })}
                className="field min-w-0 grow basis-28"
                placeholder={option.value === '' ? t('name') : option.value}
                maxLength={60}
                autoComplete="off"
                value={option.label}
                onChange={({ target }) => set({ label: target.value })}
              />
              <Checkbox
                label={t('archived')}
                aria-label={t('optionArchived', { at: number })}
                checked={option.archived}
                onChange={({ target }) => set({ archived: target.checked })}
              />
              <IconButton
                label={t('removeOption', { at: number })}
                disabled={options.length === 1}
                onClick={() => onChange(options.toSpliced(at, 1))}
              >
                <X aria-hidden className="size-4" />
              </IconButton>
            </div>
            {wrong !== undefined && (
              <p className="text-xs text-bad">
                <FaultText fault={wrong} />
              </p>
            )}
          </div>
        );
      })}
      {options.length < MOST_OPTIONS && (
        <div>
          <Button
            look="quiet"
            onClick={() => onChange([...options, { value: '', label: '', archived: false }])}
          >
            <Plus aria-hidden className="size-4" />
            {t('addOption')}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
