import type { ReactNode } from 'react';
import { useLocale, useTranslations } from 'use-intl';
import { FormFrame, partOf, type DraftFormProps, type DraftPartProps } from '../ui/draft-form.tsx';
import { Checkbox, Select, TextArea, TextField } from '../ui/form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { NumberLines } from '../ui/number-lines.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { boundsOf, isNumeric, withType, type AttributeDraft } from './attribute-draft.ts';
import { TYPES, type AttributeType } from './vocabulary.ts';

interface AttributeFormProps extends DraftFormProps<AttributeDraft> {
  /** Set once. */
  keyFixed?: boolean;
}

/** What an attribute is called, and which values it takes. */
export function AttributeForm({ keyFixed = false, children, ...form }: AttributeFormProps): ReactNode {
  const t = useTranslations('attributes');
  const locale = useLocale();
  const part = partOf(form);
  const { draft, set, error } = part;
  return (
    <FormFrame {...form}>
      <div className="flex flex-col gap-4">
        {!keyFixed && (
          <TextField
            label={t('key')}
            hint={t('keyHint')}
            className="field font-mono"
            spellCheck={false}
            required
            maxLength={100}
            value={draft.key}
            error={problemAt(error, '/key')}
            onChange={({ target }) => set({ key: target.value })}
          />
        )}
        <TextField
          label={t('label')}
          hint={t('labelHint')}
          maxLength={100}
          value={draft.label}
          error={problemAt(error, '/label')}
          onChange={({ target }) => set({ label: target.value })}
        />
        <Select
          label={t('type')}
          value={draft.type}
          error={problemAt(error, '/type')}
          options={TYPES.map((value) => ({ value, label: t(`types.${value}`) }))}
          onChange={({ target }) => set(withType(draft, target.value as AttributeType, locale))}
        />
        <Bounds {...part} />
        <Checkbox
          label={t('memberVisible')}
          checked={draft.memberVisible}
          onChange={({ target }) => set({ memberVisible: target.checked })}
        />
        {children}
      </div>
    </FormFrame>
  );
}

function Bounds({ draft, set, error }: DraftPartProps<AttributeDraft>): ReactNode {
  const t = useTranslations('attributes');
  const takes = boundsOf(draft.type);
  const figure = (name: 'maxLength' | 'min' | 'max', pointer: string, least?: number): ReactNode => (
    <NumberField
      label={t(name)}
      hint={t('emptyForNone')}
      fraction={draft.type === 'number'}
      min={least}
      value={draft[name]}
      error={problemAt(error, pointer)}
      onChange={(typed) => set({ [name]: typed })}
    />
  );
  const values = {
    label: t('values'),
    hint: t('valuesHint'),
    error: problemAt(error, '/enum', true),
  };
  return (
    <>
      {takes.values &&
        (isNumeric(draft.type) ? (
          <NumberLines {...values} value={draft.values} onChange={(typed) => set({ values: typed })} />
        ) : (
          <TextArea
            {...values}
            value={draft.values}
            onChange={({ target }) => set({ values: target.value })}
          />
        ))}
      {takes.length && figure('maxLength', '/max_length', 1)}
      {takes.range && (
        <div className="grid gap-4 sm:grid-cols-2">
          {figure('min', '/min')}
          {figure('max', '/max')}
        </div>
      )}
    </>
  );
}
