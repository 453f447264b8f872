import type { ItemOf } from '@customer-platform/client';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';

export type Permission = ItemOf<'/v1/identity/permissions'>;

/** All permissions that the platform knows; none where one may not read them. */
export function usePermissions(): readonly Permission[] {
  const api = useApi();
  const may = useMay();
  const { organization } = usePerson();
  const { data } = useQuery({
    queryKey: [organization.id, 'organization', 'permissions'],
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
