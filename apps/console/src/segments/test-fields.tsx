import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useLocale, useTranslations } from 'use-intl';
import { Button, IconButton } from '../ui/button.tsx';
import { Field, Select } from '../ui/form.tsx';
import { useUnderstood } from '../ui/number-field.tsx';
import { DurationField } from './duration-field.tsx';
import { kindsFor, ordersTexts, readAs, shown, typed, withOp } from './edit-test.ts';
import { OPS, type Draft, type Op, type TestDraft } from './rule.ts';
import type { Fault } from '../ui/problem-at.ts';
import { FaultText } from '../ui/problem-words.tsx';

interface TestFieldsProps {
  test: TestDraft;
  error: Fault | undefined;
  onChange: (test: TestDraft) => void;
  /** Those that can be asked with; all unless given. */
  ops?: readonly Op[];
}

/** How something is compared, and with what. */
export function TestFields({ test, error, onChange, ops = OPS }: TestFieldsProps): ReactNode {
  const t = useTranslations('segments');
  return (
    <>
      <Select
        label={t('op')}
        value={test.op}
        options={ops.map((op) => ({ value: op, label: t(`ops.${op}`) }))}
        onChange={({ target }) => onChange(withOp(test, target.value as Op))}
      />
      <ValueFields test={test} error={error} onChange={onChange} />
    </>
  );
}

function ValueFields({ test, error, onChange }: TestFieldsProps): ReactNode {
  const t = useTranslations('segments');
  const { op, drafts } = test;
  const saying = useSaying();
  const [first = { as: 'text', text: '' } as const] = drafts;
  const one = (draft: Draft): void => onChange({ op, drafts: [draft] });
  if (op === 'in') return <ListFields test={test} error={error} onChange={onChange} />;
  if (op === 'within_last')
    return (
      <DurationField
        label={t('value')}
        value={first.text}
        error={error}
        onChange={(text) => one({ as: 'text', text })}
      />
    );
  if (op === 'exists')
    return (
      <Select
        label={t('value')}
        value={first.text}
        error={error}
        options={[
          { value: 'true', label: t('isThere') },
          { value: 'false', label: t('isAbsent') },
        ]}
        onChange={({ target }) => one({ as: 'boolean', text: target.value })}
      />
    );
  const said = [saying(first), ordersTexts(test) && t('ordersTexts')].filter(Boolean).join(' ');
  return (
    <Field label={t('value')} error={error} {...(said === '' ? {} : { hint: said })}>
      {(tie) => <ValueField tie={tie} op={op} draft={first} onChange={one} />}
    </Field>
  );
}

/** Says as what number a value is understood. */
function useSaying(): (draft: Draft) => string | undefined {
  const locale = useLocale();
  const understood = useUnderstood();
  return (draft) => (draft.as === 'number' ? understood(shown(draft, locale), draft.text) : undefined);
}

interface ValueFieldProps {
  tie: object;
  op: Op;
  draft: Draft;
  onChange: (draft: Draft) => void;
}

/** A value and whether it is a text, a number, or yes or no: `5` and `"5"` are not the same. */
function ValueField({ tie, op, draft, onChange }: ValueFieldProps): ReactNode {
  const t = useTranslations('segments');
  const locale = useLocale();
  const kinds = kindsFor(op);
  const known = kinds.includes(draft.as) ? kinds : [...kinds, draft.as];
  return (
    <span className="flex gap-1">
      {draft.as === 'boolean' ? (
        <select
          className="field"
          value={draft.text}
          onChange={({ target }) => onChange({ ...draft, text: target.value })}
          {...tie}
        >
          <option value="true">{t('true')}</option>
          <option value="false">{t('false')}</option>
        </select>
      ) : (
        <input
          className="field"
          autoComplete="off"
          value={shown(draft, locale)}
          onChange={({ target }) => onChange(typed(draft, target.value, op, locale))}
          {...tie}
        />
      )}
      <select
        aria-label={t('readAs')}
        title={t('readAs')}
        className="field w-auto!"
        value={draft.as}
        onChange={({ target }) => onChange(readAs(draft, target.value as Draft['as'], locale))}
      >
        {known.map((as) => (
          <option key={as} value={as}>
            {t(`types.${as}`)}
          </option>
        ))}
      </select>
    </span>
  );
}

function ListFields({ test: { op, drafts }, error, onChange }: TestFieldsProps): ReactNode {
  const t = useTranslations('segments');
  const saying = useSaying();
  const set = (changed: readonly Draft[]): void => onChange({ op, drafts: changed });
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 text-xs font-medium">{t('values')}</legend>
      {drafts.map((draft, at) => (
        <span key={at} className="flex gap-1">
          <span className="grow">
            <ValueField
              tie={{ 'aria-label': t('valueAt', { at: at + 1 }) }}
              op={op}
              draft={draft}
              onChange={(changed) => set(drafts.with(at, changed))}
            />
            <span className="block text-xs text-soft empty:hidden">{saying(draft)}</span>
          </span>
          <IconButton label={t('removeValue', { at: at + 1 })} onClick={() => set(drafts.toSpliced(at, 1))}>
            <X aria-hidden className="size-4" />
          </IconButton>
        </span>
      ))}
      {error !== undefined && (
        <p className="text-xs text-bad">
          <FaultText fault={error} />
        </p>
      )}
      <span>
        <Button
          look="quiet"
          className="px-2!"
          onClick={() => set([...drafts, { as: drafts.at(-1)?.as ?? 'text', text: '' }])}
        >
          <Plus aria-hidden className="size-4" />
          {t('addValue')}
        </Button>
      </span>
    </fieldset>
  );
}
