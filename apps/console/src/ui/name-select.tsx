import { hashKey, useQuery, type QueryKey } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { usePerson } from '../session/use-session.tsx';
import { SearchField } from './filters.tsx';
import { Select, TextField } from './form.tsx';
import type { Fault } from './problem-at.ts';

/** Names to choose from, and whether there are more than these. */
interface Names {
  items: readonly { id: string; name: string }[];
  more: boolean;
}

interface NameSelectProps {
  label: string;
  /** In place of the label where nothing can be read to choose from. */
  idLabel: string;
  /** What can be chosen; without the right to see it nothing is. */
  read: { data: Names | undefined; isLoading: boolean };
  /** What the names offered begin with, where there are more than fit. */
  prefix: string;
  onPrefix: (prefix: string) => void;
  value: string;
  error: Fault | undefined;
  /** Where there is nothing to choose. */
  none: ReactNode;
  onChange: (id: string) => void;
}

/** One of many by its name; by its id where who asks may not see them. */
export function NameSelect(props: NameSelectProps): ReactNode {
  const { label, idLabel, read, prefix, onPrefix, value, error, none, onChange } = props;
  const t = useTranslations('ui');
  const { data, isLoading } = read;
  if (data === undefined && !isLoading)
    return (
      <TextField
        label={idLabel}
        required
        value={value}
        error={error}
        onChange={({ target }) => onChange(target.value.trim())}
      />
    );
  const items = data?.items ?? [];
  // One that is not among those offered stays what it is.
  const known = value === '' || items.some(({ id }) => id === value);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {(data?.more === true || prefix !== '') && (
        <SearchField label={t('nameBegins')} value={prefix} onChange={onPrefix} />
      )}
      <Select
        label={label}
        required
        value={value}
        error={error}
        hint={data !== undefined && items.length === 0 && prefix === '' ? none : undefined}
        options={[
          { value: '', label: t('choose') },
          ...(known ? [] : [{ value, label: value }]),
          ...items.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}

/** What such a field offers, by `key` and the beginning of the names. */
export function useNames(
  key: QueryKey,
  prefix: string,
  enabled: boolean,
  load: (signal: AbortSignal) => Promise<Names>,
) {
  const { organization } = usePerson();
  const of = [organization.id, ...key];
  const hash = hashKey(of);
  return useQuery<Names>({
    queryKey: [...of, prefix],
    enabled,
    // While others are asked for, what was found stays in sight.
    placeholderData: (found, before) =>
      before !== undefined && hashKey(before.queryKey.slice(0, -1)) === hash ? found : undefined,
    queryFn: ({ signal }) => load(signal),
  });
}
