import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button, IconButton } from '../ui/button.tsx';
import { Checkbox, Select, TextField } from '../ui/form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { keyFor, type FieldDraft } from './definition-draft.ts';
import { CONTACT, FIELD_TYPES, type FieldType } from './object.ts';
import { OptionsEditor } from './options-editor.tsx';
import { useDefinitions } from './use-objects.ts';
import type { Fault } from '../ui/problem-at.ts';
import { FaultText } from '../ui/problem-words.tsx';

interface FieldEditorProps {
  field: FieldDraft;
  /** What the API says of a member of it; of the whole with ''. */
  problem: (within: string) => Fault | undefined;
  onChange: (field: FieldDraft) => void;
  onRemove: () => void;
}

interface PartProps extends Pick<FieldEditorProps, 'field' | 'problem'> {
  set: (changed: Partial<FieldDraft>) => void;
}

/** One field of a definition: of a stored one a line, until one opens it. */
export function FieldEditor({ field, problem, onChange, onRemove }: FieldEditorProps): ReactNode {
  const t = useTranslations('objects');
  const [open, setOpen] = useState(!field.stored);
  const set = (changed: Partial<FieldDraft>): void => onChange({ ...field, ...changed });
  const wrong = problem('');
  const name = field.label === '' ? t('newField') : field.label;
  return (
    <fieldset className="flex min-w-0 flex-col gap-4 rounded-panel border border-line p-3">
      <legend className="sr-only">{name}</legend>
      <div className="flex items-center gap-2">
        <span className="min-w-0 grow">
          <bdi className="font-medium">{name}</bdi>{' '}
          <span className="text-xs text-soft">
            {t(`types.${field.type}`)}
            {field.archived && ` · ${t('archived')}`}
          </span>
        </span>
        {field.stored && (
          <Button
            look="quiet"
            aria-expanded={open}
            aria-label={t('editField', { name })}
            onClick={() => setOpen(!open)}
          >
            {t(open ? 'closeField' : 'openField')}
          </Button>
        )}
        <IconButton label={t('removeField', { name })} onClick={onRemove}>
          <X aria-hidden className="size-4" />
        </IconButton>
      </div>
      {wrong !== undefined && !open && (
        <p className="text-xs text-bad">
          <FaultText fault={wrong} />
        </p>
      )}
      {open && (
        <>
          <Naming field={field} problem={problem} set={set} />
          <OfType field={field} problem={problem} set={set} />
          <Flags field={field} problem={problem} set={set} />
        </>
      )}
    </fieldset>
  );
}

function Naming({ field, problem, set }: PartProps): ReactNode {
  const t = useTranslations('objects');
  const [touched, setTouched] = useState(field.stored || field.key !== '');
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <TextField
        label={t('fieldLabel')}
        required
        maxLength={60}
        value={field.label}
        error={problem('/label')}
        onChange={({ target }) =>
          set({ label: target.value, ...(touched ? {} : { key: keyFor(target.value) }) })
        }
      />
      <TextField
        label={t('key')}
        className="field font-mono"
        required
        readOnly={field.stored}
        spellCheck={false}
        maxLength={40}
        value={field.key}
        error={problem('/key')}
        onChange={({ target }) => {
          setTouched(true);
          set({ key: target.value });
        }}
      />
      <Select
        label={t('type')}
        disabled={field.stored}
        value={field.type}
        error={problem('/type')}
        options={FIELD_TYPES.map((value) => ({ value, label: t(`types.${value}`) }))}
        onChange={({ target }) => set({ type: target.value as FieldType })}
      />
    </div>
  );
}

/** What only its type has. */
function OfType(props: PartProps): ReactNode {
  const t = useTranslations('objects');
  const { field, problem, set } = props;
  switch (field.type) {
    case 'string':
      return (
        <NumberField
          label={t('maxLength')}
          min={1}
          max={10_000}
          required
          value={field.maxLength}
          error={problem('/max_length')}
          onChange={(maxLength) => set({ maxLength })}
        />
      );
    case 'integer':
    case 'number':
      return (
        <div className="grid grid-cols-2 gap-4">
          {(['min', 'max'] as const).map((name) => (
            <NumberField
              key={name}
              label={t(name)}
              fraction={field.type === 'number'}
              value={field[name]}
              error={problem(`/${name}`)}
              onChange={(typed) => set({ [name]: typed })}
            />
          ))}
        </div>
      );
    case 'enum':
      return (
        <OptionsEditor
          options={field.options}
          problem={(at) => problem(`/options${at}`)}
          onChange={(options) => set({ options })}
        />
      );
    case 'reference':
      return <Target {...props} />;
    case 'boolean':
    case 'date':
    case 'datetime':
      return null;
  }
}

function Target({ field, problem, set }: PartProps): ReactNode {
  const t = useTranslations('objects');
  const definitions = useDefinitions();
  const known = (definitions.data ?? []).some(({ id }) => id === field.target);
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Select
        label={t('target')}
        value={field.target}
        error={problem('/target')}
        options={[
          { value: CONTACT, label: t('aContact') },
          ...(definitions.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ...(known || field.target === CONTACT ? [] : [{ value: field.target, label: field.target }]),
        ]}
        onChange={({ target }) =>
          set({ target: target.value, ...(target.value === CONTACT ? { unique: false } : {}) })
        }
      />
      {field.target === CONTACT && (
        <Select
          label={t('onErasure')}
          value={field.onErasure}
          error={problem('/on_erasure')}
          options={(['delete', 'clear'] as const).map((value) => ({ value, label: t(`erasures.${value}`) }))}
          onChange={({ target }) => set({ onErasure: target.value === 'clear' ? 'clear' : 'delete' })}
        />
      )}
    </div>
  );
}

function Flags({ field, problem, set }: PartProps): ReactNode {
  const t = useTranslations('objects');
  // A merge of two contacts would break it.
  const mayBeUnique = field.type !== 'reference' || field.target !== CONTACT;
  const wrong = ['/required', '/unique', '/indexed', '/archived']
    .map(problem)
    .find((each) => each !== undefined);
  return (
    <div className="flex flex-col gap-1">
      <div className="flex flex-wrap gap-x-4">
        <Checkbox
          label={t('required')}
          checked={field.required}
          onChange={({ target }) => set({ required: target.checked })}
        />
        {mayBeUnique && (
          <Checkbox
            label={t('unique')}
            checked={field.unique}
            onChange={({ target }) => set({ unique: target.checked })}
          />
        )}
        <Checkbox
          label={t('indexed')}
          checked={field.indexed || field.unique}
          disabled={field.unique}
          onChange={({ target }) => set({ indexed: target.checked })}
        />
        {field.stored && (
          <Checkbox
            label={t('archived')}
            checked={field.archived}
            onChange={({ target }) => set({ archived: target.checked })}
          />
        )}
      </div>
      {wrong !== undefined && (
        <p className="text-xs text-bad">
          <FaultText fault={wrong} />
        </p>
      )}
      {field.archived && <p className="text-xs text-soft">{t('archivedHint')}</p>}
    </div>
  );
}
