import type { DataOf } from '@customer-platform/client';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useApi } from '../api/api.tsx';
import { usePerson } from '../session/use-session.tsx';

type Mfa = DataOf<'get', '/v1/identity/mfa'>;

export type Factor = Mfa['factors'][number];

/** One's own factors that were confirmed by a code, and how many recovery codes are left. */
export function useFactors(): UseQueryResult<Mfa> {
  const api = useApi();
  const { organization } = usePerson();
  return useQuery({
    queryKey: factorsKey(organization.id),
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/v1/identity/mfa', { signal });
      return { ...data, factors: data.factors.filter(({ confirmed_at: at }) => at !== null) };
    },
  });
}

export function factorsKey(organizationId: string): readonly string[] {
  return [organizationId, 'mfa'];
}
