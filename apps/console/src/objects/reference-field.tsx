import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { ChooseContact } from '../people/choose-contact.tsx';
import { ContactName } from '../people/person.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { SearchField } from '../ui/filters.tsx';
import { TextField } from '../ui/form.tsx';
import { Failure } from '../ui/notices.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import {
  asQuery,
  CONTACT,
  filterFields,
  nameOfRecord,
  type ObjectField,
  type ObjectRecord,
} from './object.ts';
import { useDefinitions } from './use-objects.ts';
import { RecordReference } from './value-view.tsx';
import type { Fault } from '../ui/problem-at.ts';
import { FaultText } from '../ui/problem-words.tsx';

const OFFERED = 20;

interface ReferenceFieldProps {
  field: ObjectField;
  /** An id; empty for none. */
  value: string;
  error: Fault | undefined;
  onChange: (id: string) => void;
}

/** A contact or a record, found by what it is called. */
export function ReferenceField({ field, value, error, onChange }: ReferenceFieldProps): ReactNode {
  const t = useTranslations('objects');
  const may = useMay();
  const { label, required, target = CONTACT } = field;
  if (target === CONTACT && !may('core.contacts.read'))
    return (
      <TextField
        label={t('idOf', { label })}
        required={required}
        value={value}
        error={error}
        onChange={({ target: input }) => onChange(input.value.trim())}
      />
    );
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 text-xs font-medium">{label}</legend>
      {value !== '' && (
        <div className="flex flex-wrap items-center gap-2">
          {target === CONTACT ? (
            <ContactName id={value} withAddress />
          ) : (
            <RecordReference target={target} id={value} />
          )}
          <Button look="quiet" onClick={() => onChange('')}>
            {t('another')}
          </Button>
        </div>
      )}
      {value === '' && target === CONTACT && <ChooseContact except={undefined} onChoose={onChange} />}
      {value === '' && target !== CONTACT && <ChooseRecord target={target} onChoose={onChange} />}
      {error !== undefined && (
        <p className="text-xs text-bad">
          <FaultText fault={error} />
        </p>
      )}
    </fieldset>
  );
}

interface ChooseRecordProps {
  target: string;
  onChoose: (id: string) => void;
}

/** By the beginning of an indexed text; where the definition has none, among the latest. */
function ChooseRecord({ target, onChoose }: ChooseRecordProps): ReactNode {
  const t = useTranslations('objects');
  const [typed, setTyped] = useState('');
  const definitions = useDefinitions();
  const definition = definitions.data?.find(({ id }) => id === target);
  const text = definition && filterFields(definition).find(({ type }) => type === 'string');
  const { data, error, refetch } = useFound(target, text?.key, typed.trim());
  return (
    <div className="flex max-w-xl flex-col gap-2">
      {text !== undefined && (
        <SearchField label={t('beginsWith', { label: text.label })} value={typed} onChange={setTyped} />
      )}
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data?.length === 0 && <p className="text-soft">{t('noneFound')}</p>}
      {data !== undefined && data.length > 0 && definition !== undefined && (
        <ul className="flex max-h-56 flex-col divide-y divide-line overflow-y-auto rounded-panel border border-line">
          {data.map((record) => (
            <li key={record.id}>
              <button
                type="button"
                className="w-full px-3 py-2 text-start -outline-offset-2 hover:bg-hover"
                onClick={() => onChoose(record.id)}
              >
                <bdi>{nameOfRecord(definition, record)}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function useFound(target: string, key: string | undefined, prefix: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['objects', 'found', target, key, prefix],
    queryFn: async ({ signal }): Promise<readonly ObjectRecord[]> => {
      const filter = key === undefined || prefix === '' ? {} : { [`values.${key}[prefix]`]: prefix };
      const query = asQuery({ limit: OFFERED, ...filter });
      return (await api.GET('/v1/crm/objects/{slug}', { params: { path: { slug: target }, query }, signal }))
        .data.data;
    },
  });
}
