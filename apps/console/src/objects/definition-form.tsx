import { Plus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { FormFrame, FormPart, partOf, type DraftFormProps } from '../ui/draft-form.tsx';
import { TextField } from '../ui/form.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { keyFor, newField, type DefinitionDraft, type FieldDraft } from './definition-draft.ts';
import { FieldEditor } from './field-editor.tsx';
import { MOST_INDEXED } from './object.ts';
import { FaultText } from '../ui/problem-words.tsx';

const MOST_FIELDS = 100;

interface DefinitionFormProps extends DraftFormProps<DefinitionDraft> {
  /** Of what is stored the slug stays. */
  stored?: boolean;
}

/** A name, and the fields. */
export function DefinitionForm({ stored = false, ...props }: DefinitionFormProps): ReactNode {
  const t = useTranslations('objects');
  const { draft, set, error } = partOf(props);
  const [slugTouched, setSlugTouched] = useState(false);
  const wrong = problemAt(error, '/fields');
  const indexed = draft.fields.filter((field) => field.indexed || field.unique).length;
  return (
    <FormFrame {...props}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t('name')}
          required
          maxLength={80}
          value={draft.name}
          error={problemAt(error, '/name')}
          onChange={({ target }) =>
            set({
              name: target.value,
              ...(stored || slugTouched ? {} : { slug: keyFor(target.value) }),
            })
          }
        />
        <TextField
          label={t('slug')}
          hint={t('slugHint')}
          className="field font-mono"
          required
          readOnly={stored}
          spellCheck={false}
          maxLength={40}
          value={draft.slug}
          error={problemAt(error, '/slug')}
          onChange={({ target }) => {
            setSlugTouched(true);
            set({ slug: target.value });
          }}
        />
      </div>
      <FormPart title={t('fields')}>
        <p className="text-xs text-soft">{t('indexedOf', { count: indexed, most: MOST_INDEXED })}</p>
        {wrong !== undefined && (
          <p className="text-xs text-bad">
            <FaultText fault={wrong} />
          </p>
        )}
        <Fields fields={draft.fields} error={error} onChange={(fields) => set({ fields })} />
      </FormPart>
      {props.children}
    </FormFrame>
  );
}

interface FieldsProps {
  fields: readonly FieldDraft[];
  error: unknown;
  onChange: (fields: readonly FieldDraft[]) => void;
}

function Fields({ fields, error, onChange }: FieldsProps): ReactNode {
  const t = useTranslations('objects');
  return (
    <>
      {fields.map((field, at) => (
        <FieldEditor
          key={field.id}
          field={field}
          problem={(within) => problemAt(error, `/fields/${String(at)}${within}`, within === '')}
          onChange={(changed) => onChange(fields.with(at, changed))}
          onRemove={() => onChange(fields.toSpliced(at, 1))}
        />
      ))}
      {fields.length < MOST_FIELDS && (
        <div>
          <Button onClick={() => onChange([...fields, newField()])}>
            <Plus aria-hidden className="size-4" />
            {t('addField')}
          </Button>
        </div>
      )}
    </>
  );
}
