import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { usePerson } from '../session/use-session.tsx';
import { useSay } from '../ui/toasts.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import type { NewRule, Rule } from './rule-draft.ts';

export function useRule(id: string) {
  const api = useApi();
  const { organization } = usePerson();
  return useQuery({
    queryKey: [organization.id, 'loyalty', 'rules', 'one', id],
    queryFn: async ({ signal }): Promise<Reading<Rule>> =>
      api.GET('/v1/loyalty/rules/{id}', { params: { path: { id } }, signal }),
  });
}

/** A rule as an older version said; versions never change. */
export function useRuleVersion(id: string, version: number, enabled: boolean) {
  const api = useApi();
  const { organization } = usePerson();
  return useQuery({
    queryKey: [organization.id, 'loyalty', 'rules', 'version', id, version],
    enabled,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { version: String(version) } };
      return (await api.GET('/v1/loyalty/rules/{id}', { params, signal })).data;
    },
  });
}

export function useRulesChanged(): () => Promise<void> {
  const cache = useQueryClient();
  const { organization } = usePerson();
  return () => cache.invalidateQueries({ queryKey: [organization.id, 'loyalty', 'rules'] });
}

export function useCreateRule(onMade: (rule: Rule) => void) {
  const t = useTranslations('loyalty');
  const api = useApi();
  const say = useSay();
  const changed = useRulesChanged();
  return useMutation({
    mutationFn: async (body: NewRule) => (await api.POST('/v1/loyalty/rules', { body })).data,
    onSuccess: async (rule) => {
      await changed();
      say(t('ruleMade', { name: rule.name }));
      onMade(rule);
    },
  });
}

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
