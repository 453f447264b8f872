import { useNavigate } from '@tanstack/react-router';
import type { AreaSearch } from './routes.ts';

/** What the address holds, and a change of it; going through filters makes no history, opening something does. */
export function useSearch(search: AreaSearch): [AreaSearch, (change: Changes) => void] {
  const navigate = useNavigate();
  const set = (change: Changes): void => {
    const next = Object.entries({ ...search, ...change }).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    const opens = 'open' in change || 'create' in change;
    void navigate({ to: '.', search: Object.fromEntries(next), replace: !opens });
  };
  return [search, set];
}

type Changes = { [Name in keyof AreaSearch]?: AreaSearch[Name] | undefined };
