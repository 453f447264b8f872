import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useSay } from '../ui/toasts.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import type { NewRoutingRule, RoutingRule } from './routing-draft.ts';

const MOST_TEMPLATES = 200;

export function useRoutingRule(id: string) {
  const api = useApi();
  const { organization } = usePerson();
  return useQuery({
    queryKey: [organization.id, 'messages', 'routing', 'one', id],
    queryFn: async ({ signal }): Promise<Reading<RoutingRule>> =>
      api.GET('/v1/messaging/event-routing/{id}', { params: { path: { id } }, signal }),
  });
}

export function useRoutingChanged(): () => Promise<void> {
  const cache = useQueryClient();
  const { organization } = usePerson();
  return () => cache.invalidateQueries({ queryKey: [organization.id, 'messages', 'routing'] });
}

export function useCreateRouting(onMade: (rule: RoutingRule) => void) {
  const t = useTranslations('messages');
  const api = useApi();
  const say = useSay();
  const changed = useRoutingChanged();
  return useMutation({
    mutationFn: async (body: NewRoutingRule) =>
      (await api.POST('/v1/messaging/event-routing', { body })).data,
    onSuccess: async (rule) => {
      await changed();
      say(t('routingMade', { name: rule.name }));
      onMade(rule);
    },
  });
}

/** On or off, from now on; what a rule that is turned off still holds back is canceled. */
export function useTurnRouting(id: string) {
  const api = useApi();
  const changed = useRoutingChanged();
  return useMutation({
    mutationFn: ({ enabled, ifMatch }: { enabled: boolean; ifMatch: string | undefined }) =>
      api.PATCH('/v1/messaging/event-routing/{id}', { params: { path: { id } }, body: { enabled }, ifMatch }),
    onSettled: changed,
  });
}

/** The templates that can be chosen, for who may see them. */
export function useTemplateNames(): readonly { id: string; name: string; channel: string }[] | undefined {
  const api = useApi();
  const may = useMay();
  const { organization } = usePerson();
  const { data } = useQuery({
    queryKey: [organization.id, 'messages', 'templates', 'names'],
    enabled: may('messaging.templates.read'),
    queryFn: async ({ signal }) => {
      const params = { query: { limit: MOST_TEMPLATES, kind: 'message' as const } };
      return (await api.GET('/v1/messaging/templates', { params, signal })).data.data;
    },
  });
  return data;
}
