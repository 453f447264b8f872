import { useMutation } from '@tanstack/react-query';
import { useApi } from '../api/api.tsx';
import { useOwnQuery, useReadAnew } from '../ui/queries.ts';
import type { Reading } from '../ui/use-edit.tsx';
import type { Rule } from './rule-draft.ts';

export function useRule(id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['loyalty', 'rules', 'one', id],
    queryFn: async ({ signal }): Promise<Reading<Rule>> =>
      api.GET('/v1/loyalty/rules/{id}', { params: { path: { id } }, signal }),
  });
}

/** A rule as an older version said; versions never change. */
export function useRuleVersion(id: string, version: number, enabled: boolean) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['loyalty', 'rules', 'version', id, version],
    enabled,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { version: String(version) } };
      return (await api.GET('/v1/loyalty/rules/{id}', { params, signal })).data;
    },
  });
}

export const useRulesChanged = (): (() => Promise<void>) => useReadAnew('loyalty', 'rules');

/** On or off, from now on. */
export function useTurnRule(id: string) {
  const api = useApi();
  const changed = useRulesChanged();
  return useMutation({
    mutationFn: ({ enabled, ifMatch }: { enabled: boolean; ifMatch: string | undefined }) =>
      api.PATCH('/v1/loyalty/rules/{id}', { params: { path: { id } }, body: { enabled }, ifMatch }),
    onSettled: changed,
  });
}
