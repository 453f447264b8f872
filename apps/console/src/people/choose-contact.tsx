import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Names } from './person.tsx';
import { namesOfContact } from './use-people.ts';
import { SearchField } from '../ui/filters.tsx';
import { Failure } from '../ui/notices.tsx';
import { useOwnQuery } from '../ui/queries.ts';

const OFFERED = 20;
const SHORTEST = 2;

interface ChooseContactProps {
  /** Not offered: it was chosen already. */
  except: string | undefined;
  onChoose: (id: string) => void;
}

/** Finds a contact by name or identifier. */
export function ChooseContact({ except, onChoose }: ChooseContactProps): ReactNode {
  const t = useTranslations('contacts');
  const [typed, setTyped] = useState('');
  const { data, error, refetch } = useFound(typed.trim());
  const found = (data ?? []).filter(({ id }) => id !== except);
  return (
    <div className="flex max-w-xl flex-col gap-3">
      <SearchField main label={t('list.search')} value={typed} onChange={setTyped} />
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data !== undefined && found.length === 0 && <p className="text-soft">{t('list.noneSo')}</p>}
      {found.length > 0 && (
        <ul className="flex flex-col divide-y divide-line rounded-panel border border-line">
          {found.map((contact) => (
            <li key={contact.id}>
              <button
                type="button"
                className="flex w-full flex-wrap gap-x-3 px-3 py-2 text-start -outline-offset-2 hover:bg-hover"
                onClick={() => onChoose(contact.id)}
              >
                <span className="font-medium">
                  <Names names={namesOfContact(contact)} />
                </span>
                <span className="text-soft">{contact.email ?? contact.phone ?? contact.external_id}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function useFound(words: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['contacts', 'found', words],
    enabled: words.length >= SHORTEST,
    queryFn: async ({ signal }) => {
      const query = { q: words, limit: OFFERED };
      return (await api.GET('/v1/core/contacts', { params: { query }, signal })).data.data;
    },
  });
}
