import type { ItemOf } from '@customer-platform/client';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { useMay, usePerson } from '../../session/use-session.tsx';

type Role = ItemOf<'/v1/identity/roles'>;

/** The roles that keys may have; undefined while they are read, and for who may not read them. */
export function useMachineRoles(): Role[] | undefined {
  const api = useApi();
  const may = useMay();
  const { organization } = usePerson();
  const { data } = useQuery({
    // Below what Organization reads anew after a change of its roles.
    queryKey: [organization.id, 'organization', 'all-roles', 'machine'],
    enabled: may('identity.roles.read'),
    queryFn: async ({ signal }) => {
      const roles: Role[] = [];
      const query = { kind: 'machine', sort: 'name', limit: 200 } as const;
      for await (const role of api.items('/v1/identity/roles', { params: { query }, signal }))
        roles.push(role);
      return roles;
    },
  });
  return data;
}
