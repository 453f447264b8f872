import type { Client, ItemOf } from '@customer-platform/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { useOwnQuery } from '../ui/queries.ts';

export type User = ItemOf<'/v1/identity/users'>;
export type Role = ItemOf<'/v1/identity/roles'>;

/** A user, and where the user stands in this organization. */
export interface Member {
  /** The user's. */
  id: string;
  user: User;
  /** Undefined where the user is no member here, or one may not read who is. */
  membershipId: string | undefined;
  /** Undefined where one may not read what is assigned. */
  assignments: readonly Assignment[] | undefined;
}

interface Assignment {
  id: string;
  roleId: string;
}

type May = (permission: string) => boolean;

/** Adds to users what they are here: two more readings for all of them, each where one may. */
export async function withStanding(
  api: Client,
  may: May,
  users: readonly User[],
  signal: AbortSignal,
): Promise<Member[]> {
  const memberships = new Map<string, string>();
  const assignments = new Map<string, Assignment[]>();
  if (may('identity.memberships.read') && users.length > 0) {
    const query = { 'user_id[in]': users.map(({ id }) => id), limit: 200 };
    const listed = api.items('/v1/identity/memberships', { params: { query }, signal });
    for await (const { id, user_id: userId } of listed) memberships.set(userId, id);
  }
  const readable = may('identity.roles.assign') && may('identity.memberships.read');
  if (readable && memberships.size > 0) {
    const query = { 'membership_id[in]': [...memberships.values()], limit: 200 };
    const listed = api.items('/v1/identity/role-assignments', { params: { query }, signal });
    for await (const { id, membership_id: of, role_id: roleId } of listed)
      assignments.set(of, [...(assignments.get(of) ?? []), { id, roleId }]);
  }
  return users.map((user) => {
    const membershipId = memberships.get(user.id);
    const own = membershipId === undefined ? [] : (assignments.get(membershipId) ?? []);
    return { id: user.id, user, membershipId, assignments: readable ? own : undefined };
  });
}

/** One user, as it stands now. */
export function useMember(id: string): UseQueryResult<Member> {
  const api = useApi();
  const may = useMay();
  return useOwnQuery({
    queryKey: ['organization', 'member', id],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/v1/identity/users/{id}', { params: { path: { id } }, signal });
      const [member] = await withStanding(api, may, [data], signal);
      if (member === undefined) throw new Error('A user has no standing');
      return member;
    },
  });
}

/** All roles, of which an organization has at most 200; none where one may not read them. */
export function useRoles(): readonly Role[] {
  const api = useApi();
  const may = useMay();
  const { data } = useOwnQuery({
    queryKey: ['organization', 'all-roles'],
    enabled: may('identity.roles.read'),
    queryFn: async ({ signal }) => {
      const roles: Role[] = [];
      const query = { limit: 200, sort: 'name' };
      for await (const role of api.items('/v1/identity/roles', { params: { query }, signal }))
        roles.push(role);
      return roles;
    },
  });
  return data ?? [];
}
