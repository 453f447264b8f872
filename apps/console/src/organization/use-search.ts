import { useNavigate } from '@tanstack/react-router';
import { sortIn } from '../ui/search-params.ts';
import type { AreaSearch } from './search-params.ts';

/**
 * Gives what the address holds, and a change of it; going through filters makes no history, opening something does.
 * @param sorts the fields that the list is sorted by: another is not passed on
 */
export function useSearch(
  address: AreaSearch,
  sorts: readonly string[],
): [AreaSearch, (change: Changes) => void] {
  const navigate = useNavigate();
  const { sort: _, ...others } = address;
  const sort = sortIn({ ...address }, 'sort', sorts);
  const search = sort === undefined ? others : { ...others, sort };
  const set = (change: Changes): void => {
    const next = Object.entries({ ...search, ...change }).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    void navigate({ to: '.', search: Object.fromEntries(next), replace: !('open' in change) });
  };
  return [search, set];
}

type Changes = { [Name in keyof AreaSearch]?: AreaSearch[Name] | undefined };
