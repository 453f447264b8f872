import type { ItemOf } from '@customer-platform/client';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { useOwnQuery } from '../ui/queries.ts';

export type Permission = ItemOf<'/v1/identity/permissions'>;

/** All permissions that the platform knows; none where one may not read them. */
export function usePermissions(): readonly Permission[] {
  const api = useApi();
  const may = useMay();
  const { data } = useOwnQuery({
    queryKey: ['organization', 'permissions'],
    enabled: may('identity.permissions.read'),
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const all: Permission[] = [];
      const query = { limit: 200, sort: 'permission' };
      const listed = api.items('/v1/identity/permissions', { params: { query }, signal });
      for await (const permission of listed) all.push(permission);
      return all;
    },
  });
  return data ?? [];
}
