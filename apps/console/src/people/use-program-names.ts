import type { Client } from '@customer-platform/client';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { useOwnQuery } from '../ui/queries.ts';

/** A key or an application: it acts and is no person. */
export type Program = 'api_key' | 'oauth_client';

/** A page of a list; an organization seldom has more programs. */
const PAGE = 200;
const MOST = 1_000;
const NAMES_STAND_MS = 60_000;

const PERMISSIONS = {
  api_key: 'identity.api_keys.read',
  oauth_client: 'identity.oauth_clients.read',
} as const;

/** The names of all programs of a kind by id, for their lists take no ids. */
const READERS: Record<Program, (api: Client, signal: AbortSignal) => Promise<Map<string, string>>> = {
  api_key: async (api, signal) => {
    const names = new Map<string, string>();
    for await (const { id, name } of api.items('/v1/identity/api-keys', {
      params: { query: { limit: PAGE } },
      signal,
    })) {
      names.set(id, name);
      if (names.size >= MOST) break;
    }
    return names;
  },
  oauth_client: async (api, signal) => {
    const names = new Map<string, string>();
    const query = { limit: PAGE, include_deleted: true };
    for await (const { id, name } of api.items('/v1/identity/oauth-clients', { params: { query }, signal })) {
      names.set(id, name);
      if (names.size >= MOST) break;
    }
    return names;
  },
};

/** Reads what a key or an application is called; undefined while that is not known, or not for who looks. */
export function useProgramName(kind: Program, id: string): string | undefined {
  const api = useApi();
  const may = useMay();
  const { data } = useOwnQuery({
    queryKey: ['organization', 'programs', kind],
    enabled: may(PERMISSIONS[kind]),
    staleTime: NAMES_STAND_MS,
    queryFn: ({ signal }) => READERS[kind](api, signal),
  });
  return data?.get(id);
}
