import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { SearchField } from '../ui/filters.tsx';
import { useNames } from '../ui/name-select.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { isId } from '../ui/search-params.ts';

/** Offered at once; who has more finds them by how their names begin. */
const OFFERED = 100;

interface ActorFilterProps {
  label: string;
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}

/** Chooses who did something by name: people, keys and applications, as far as who looks may see them; else by id. */
export function ActorFilter({ label, value, onChange }: ActorFilterProps): ReactNode {
  const t = useTranslations('actors');
  const ui = useTranslations('ui');
  const may = useMay();
  const self = usePerson();
  const [prefix, setPrefix] = useState('');
  const users = useUsers(prefix);
  const keys = useOthers('api_key');
  const clients = useOthers('oauth_client');
  if (!may('identity.users.read') && keys.length + clients.length === 0)
    return (
      <SearchField
        label={label}
        value={value ?? ''}
        takes={isId}
        onChange={(id) => onChange(id === '' ? undefined : id)}
      />
    );
  const groups = [
    { label: t('people'), items: users.data?.items ?? [{ id: self.id, name: self.name }] },
    { label: t('keys'), items: keys },
    { label: t('applications'), items: clients },
  ].filter(({ items }) => items.length > 0);
  const known = value === undefined || groups.some(({ items }) => items.some(({ id }) => id === value));
  return (
    <>
      {(users.data?.more === true || prefix !== '') && (
        <SearchField label={ui('nameBegins')} value={prefix} onChange={setPrefix} />
      )}
      <label className="flex max-w-full items-center gap-2">
        <span className="shrink-0 text-xs text-soft">{label}</span>
        <select
          className="field w-auto! max-w-60 min-w-0"
          value={value ?? ''}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
        >
          <option value="">{ui('all')}</option>
          {!known && <option value={value}>{value}</option>}
          {groups.map(({ label: kind, items }) => (
            <optgroup key={kind} label={kind}>
              {items.map(({ id, name }) => (
                <option key={id} value={id}>
                  {id === self.id ? t('you', { name }) : name}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
    </>
  );
}

function useUsers(prefix: string) {
  const api = useApi();
  const may = useMay();
  return useNames(['organization', 'actors'], prefix, may('identity.users.read'), async (signal) => {
    const begins = prefix === '' ? {} : { 'name[prefix]': prefix };
    const query = { ...begins, include_deleted: true, sort: 'name', limit: OFFERED };
    const { data } = await api.GET('/v1/identity/users', { params: { query }, signal });
    const items = data.data.map(({ id, name, email }) => ({ id, name: name === '' ? email : name }));
    return { items, more: data.page.next_cursor !== null };
  });
}

const PERMISSIONS = {
  api_key: 'identity.api_keys.read',
  oauth_client: 'identity.oauth_clients.read',
} as const;

/** Keys or applications, of which there are few; those that have ended too, as they did what they did. */
function useOthers(kind: keyof typeof PERMISSIONS): readonly { id: string; name: string }[] {
  const api = useApi();
  const may = useMay();
  const { data } = useOwnQuery({
    queryKey: ['organization', 'actors', kind],
    enabled: may(PERMISSIONS[kind]),
    queryFn: async ({ signal }) => {
      const query = { limit: OFFERED };
      const found =
        kind === 'api_key'
          ? await api.GET('/v1/identity/api-keys', { params: { query }, signal })
          : await api.GET('/v1/identity/oauth-clients', { params: { query }, signal });
      const items: readonly { id: string; name: string }[] = found.data.data;
      return items;
    },
  });
  return data ?? [];
}
