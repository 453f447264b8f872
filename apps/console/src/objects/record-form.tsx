import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { FormFrame, partOf, type DraftFormProps } from '../ui/draft-form.tsx';
import { InstantField, Select, TextArea, TextField } from '../ui/form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { problemAt, type Fault } from '../ui/problem-at.ts';
import { openFields, type ObjectDefinition, type ObjectField } from './object.ts';
import { ReferenceField } from './reference-field.tsx';
import type { ValueDrafts } from './value-draft.ts';

/** Longer texts are written in several lines. */
const LONG_TEXT = 255;

interface RecordFormProps extends DraftFormProps<ValueDrafts> {
  definition: ObjectDefinition;
}

/** A control for each field, by its type. */
export function RecordForm({ definition, ...props }: RecordFormProps): ReactNode {
  const t = useTranslations('objects');
  const { draft, set, error } = partOf(props);
  const fields = openFields(definition);
  return (
    <FormFrame {...props}>
      {fields.length === 0 && <p className="text-soft">{t('noFields')}</p>}
      {fields.map((field) => (
        <ValueField
          key={field.key}
          field={field}
          value={draft[field.key] ?? ''}
          error={problemAt(error, `/values/${field.key}`)}
          onChange={(value) => set({ [field.key]: value })}
        />
      ))}
      {props.children}
    </FormFrame>
  );
}

interface ValueFieldProps {
  field: ObjectField;
  value: string;
  error: Fault | undefined;
  onChange: (value: string) => void;
}

function ValueField({ field, value, error, onChange }: ValueFieldProps): ReactNode {
  const t = useTranslations('objects');
  const { label, required, type } = field;
  const common = { label, required, value, error };
  switch (type) {
    case 'string': {
      const text = { ...common, ...(field.max_length === undefined ? {} : { maxLength: field.max_length }) };
      return (field.max_length ?? 0) > LONG_TEXT ? (
        <TextArea {...text} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <TextField {...text} onChange={({ target }) => onChange(target.value)} />
      );
    }
    case 'integer':
    case 'number':
      return (
        <NumberField
          {...common}
          fraction={type === 'number'}
          min={field.min ?? undefined}
          max={field.max ?? undefined}
          onChange={onChange}
        />
      );
    case 'date':
      return <TextField {...common} type="date" onChange={({ target }) => onChange(target.value)} />;
    case 'datetime':
      return <InstantField {...common} onChange={onChange} />;
    case 'boolean':
      return (
        <Select
          {...common}
          options={[
            { value: '', label: t('nothing') },
            { value: 'true', label: t('yes') },
            { value: 'false', label: t('no') },
          ]}
          onChange={({ target }) => onChange(target.value)}
        />
      );
    case 'enum':
      return (
        <Select
          {...common}
          options={[{ value: '', label: t('nothing') }, ...optionsOf(field, value)]}
          onChange={({ target }) => onChange(target.value)}
        />
      );
    case 'reference':
      return <ReferenceField field={field} value={value} error={error} onChange={onChange} />;
  }
}

/** What can be chosen, and what was before it was archived. */
function optionsOf({ options = [] }: ObjectField, chosen: string): { value: string; label: string }[] {
  return options.filter(({ archived, value }) => !archived || value === chosen);
}
