import { useId, useState, type ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Select, TextField } from '../ui/form.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { isAtFields, problemAt } from '../ui/problem-at.ts';
import { FIELDS, guessMapping, mappingOf } from './fields.ts';
import { columnsOf, guessForm, type FileForm } from './file-header.ts';
import { ImportErrors } from './import-errors.tsx';
import { Outcome } from './outcome.tsx';
import { isOver, useImport, useUpload, type Import } from './use-imports.ts';
import { FaultText } from '../ui/problem-words.tsx';

const MATCHES = ['external_id', 'email', 'phone'] as const;
const EXISTING = ['update', 'skip', 'fail'] as const;

interface Chosen {
  file: File;
  form: FileForm;
  /** Undefined where the first line has none. */
  columns: string[] | undefined;
  fields: Record<string, string>;
  match: (typeof MATCHES)[number] | '';
  existing: (typeof EXISTING)[number];
}

interface NewImportProps {
  onClose: () => void;
  onMade: (begun: Import) => void;
}

/** A file, what its columns fill, a try that writes nothing, and the import itself. */
export function NewImportPanel({ onClose, onMade }: NewImportProps): ReactNode {
  const t = useTranslations('imports');
  const [chosen, setChosen] = useState<Chosen>();
  const [tried, setTried] = useState<string>();
  const upload = useUpload((taken) => {
    if (taken.options.dry_run === true) setTried(taken.id);
    else onMade(taken);
  });
  const change = (next: Chosen): void => {
    setTried(undefined);
    upload.reset();
    setChosen(next);
  };
  const send = (dryRun: boolean): void => {
    if (chosen) upload.mutate({ file: chosen.file, options: optionsOf(chosen, dryRun) });
  };
  const close = (): void => {
    upload.cancel();
    onClose();
  };
  const pointers = (chosen?.columns ?? []).map(pointerOf);
  return (
    <Dialog open onClose={close} place="side" title={t('new')} lead={t('newLead')}>
      <ChooseFile onChosen={change} />
      {chosen?.columns === undefined && chosen !== undefined && <Note tone="warn">{t('noColumns')}</Note>}
      {chosen !== undefined && <Form chosen={chosen} onChange={change} />}
      {chosen?.columns !== undefined && <Columns chosen={chosen} onChange={change} error={upload.error} />}
      {upload.error !== null && !isAbort(upload.error) && !isAtFields(upload.error, pointers) && (
        <Failure error={upload.error} />
      )}
      {upload.isPending && <Sending sent={upload.sent} />}
      {tried !== undefined && <Tried id={tried} />}
      <DialogActions>
        <Button onClick={close}>{t('cancel')}</Button>
        <Button
          look={tried === undefined ? 'main' : 'plain'}
          disabled={chosen?.columns === undefined}
          busy={upload.isPending}
          onClick={() => send(true)}
        >
          {t('try')}
        </Button>
        <Button
          look={tried === undefined ? 'plain' : 'main'}
          disabled={chosen?.columns === undefined}
          busy={upload.isPending}
          onClick={() => send(false)}
        >
          {t('begin')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function ChooseFile({ onChosen }: { onChosen: (chosen: Chosen) => void }): ReactNode {
  const t = useTranslations('imports');
  const [unreadable, setUnreadable] = useState(false);
  const choose = async (file: File): Promise<void> => {
    try {
      const form = await guessForm(file);
      onChosen(await readColumns({ file, form, columns: [], fields: {}, match: '', existing: 'update' }));
      setUnreadable(false);
    } catch {
      setUnreadable(true);
    }
  };
  return (
    <TextField
      type="file"
      label={t('file')}
      hint={t('fileHint')}
      error={unreadable ? t('unreadable') : undefined}
      accept=".csv,.tsv,.txt,.jsonl,.ndjson,.gz"
      onChange={({ target }) => {
        const [file] = target.files ?? [];
        if (file) void choose(file);
      }}
    />
  );
}

interface FormProps {
  chosen: Chosen;
  onChange: (chosen: Chosen) => void;
}

function Form({ chosen, onChange }: FormProps): ReactNode {
  const t = useTranslations('imports');
  const { form } = chosen;
  const reread = (changed: Partial<FileForm>): void =>
    void readColumns({ ...chosen, form: { ...form, ...changed } }).then(onChange);
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Select
        label={t('format')}
        value={form.format}
        options={(['csv', 'jsonl'] as const).map((value) => ({ value, label: t(`formats.${value}`) }))}
        onChange={({ target }) => reread({ format: target.value === 'jsonl' ? 'jsonl' : 'csv' })}
      />
      {form.format === 'csv' && (
        <Select
          label={t('delimiter')}
          value={form.delimiter}
          options={DELIMITERS.map(({ value, name }) => ({ value, label: t(`delimiters.${name}`) }))}
          onChange={({ target }) =>
            reread({ delimiter: DELIMITERS.find(({ value }) => value === target.value)?.value ?? ',' })
          }
        />
      )}
      <Select
        label={t('encoding')}
        value={form.encoding}
        options={(['utf-8', 'windows-1252'] as const).map((value) => ({ value, label: value }))}
        onChange={({ target }) => reread({ encoding: target.value === 'utf-8' ? 'utf-8' : 'windows-1252' })}
      />
      <Select
        label={t('matchBy')}
        value={chosen.match}
        options={[
          { value: '', label: t('matchFirst') },
          ...MATCHES.map((value) => ({ value, label: value })),
        ]}
        onChange={({ target }) =>
          onChange({ ...chosen, match: MATCHES.find((each) => each === target.value) ?? '' })
        }
      />
      <Select
        label={t('onExisting')}
        value={chosen.existing}
        options={EXISTING.map((value) => ({ value, label: t(`existing.${value}`) }))}
        onChange={({ target }) =>
          onChange({ ...chosen, existing: EXISTING.find((each) => each === target.value) ?? 'update' })
        }
      />
    </div>
  );
}

const DELIMITERS = [
  { value: ',', name: 'comma' },
  { value: ';', name: 'semicolon' },
  { value: '\t', name: 'tab' },
  { value: '|', name: 'bar' },
] as const;

function Columns({ chosen, onChange, error }: FormProps & { error: unknown }): ReactNode {
  const t = useTranslations('imports');
  const list = useId();
  const { columns = [], fields } = chosen;
  const wrong = problemAt(error, '/mapping');
  return (
    <Section title={t('columns')} lead={t('columnsLead')}>
      <datalist id={list}>
        {FIELDS.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
      {columns.map((column, place) => (
        <TextField
          key={`${place} ${column}`}
          label={column === '' ? t('unnamed', { place: place + 1 }) : column}
          list={list}
          value={fields[column] ?? ''}
          placeholder={t('leftOut')}
          error={problemAt(error, pointerOf(column))}
          onChange={({ target }) => onChange({ ...chosen, fields: { ...fields, [column]: target.value } })}
        />
      ))}
      {wrong !== undefined && (
        <Note tone="warn">
          <FaultText fault={wrong} />
        </Note>
      )}
    </Section>
  );
}

function Sending({ sent }: { sent: number }): ReactNode {
  const t = useTranslations('imports');
  const { number } = useFormatter();
  return (
    <Note>
      {t('sending', { part: number(sent, { style: 'percent' }) })}{' '}
      <progress className="ml-2 align-middle" aria-label={t('progress')} value={sent} max={1} />
    </Note>
  );
}

/** What would come of it. */
function Tried({ id }: { id: string }): ReactNode {
  const t = useTranslations('imports');
  const { data, error, refetch } = useImport(id);
  return (
    <Section title={t('tried')} lead={t('triedLead')}>
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data !== undefined && <Outcome of={data} />}
      {data !== undefined && isOver(data) && data.rows.failed > 0 && <ImportErrors id={id} />}
    </Section>
  );
}

async function readColumns(chosen: Chosen): Promise<Chosen> {
  const columns = await columnsOf(chosen.file, chosen.form);
  return { ...chosen, columns, fields: guessMapping(columns ?? []) };
}

function optionsOf({ form, fields, match, existing }: Chosen, dryRun: boolean): object {
  return {
    format: form.format,
    ...(form.format === 'csv' ? { delimiter: form.delimiter } : {}),
    encoding: form.encoding,
    mapping: mappingOf(fields),
    ...(match === '' ? {} : { match_by: match }),
    on_existing: existing,
    dry_run: dryRun,
  };
}

/** As the API names the member of a column. */
function pointerOf(column: string): string {
  return `/mapping/${column.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
