import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { usePerson } from '../session/use-session.tsx';
import { useSay } from '../ui/toasts.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { foundOf, type SenderDomain } from './sender-domain.ts';

/** The platform looks at DNS by itself; who waits for it sees it here. */
const READ_EVERY_MS = 10_000;

const keyOf = (organizationId: string, ...rest: string[]) => [organizationId, 'sender-domains', ...rest];

export function useSenderDomain(id: string) {
  const api = useApi();
  const { organization } = usePerson();
  return useQuery({
    queryKey: keyOf(organization.id, 'one', id),
    queryFn: async ({ signal }): Promise<Reading<SenderDomain>> =>
      api.GET('/v1/messaging/sender-domains/{id}', { params: { path: { id } }, signal }),
    refetchInterval: READ_EVERY_MS,
  });
}

export function useSenderDomainsChanged(): () => Promise<void> {
  const cache = useQueryClient();
  const { organization } = usePerson();
  return () => cache.invalidateQueries({ queryKey: keyOf(organization.id) });
}

export function useCreateSenderDomain(onMade: (made: SenderDomain) => void) {
  const t = useTranslations('sender-domains');
  const api = useApi();
  const say = useSay();
  const changed = useSenderDomainsChanged();
  return useMutation({
    mutationFn: async (domain: string) =>
      (await api.POST('/v1/messaging/sender-domains', { body: { domain } })).data,
    onSuccess: async (made) => {
      await changed();
      say(t('made', { domain: made.domain }));
      onMade(made);
    },
  });
}

/** Shows at once what an answer says of a domain, and reads the lists anew. */
function useTake(id: string) {
  const cache = useQueryClient();
  const { organization } = usePerson();
  const changed = useSenderDomainsChanged();
  return async ({ data, etag }: Reading<SenderDomain>): Promise<void> => {
    cache.setQueryData(keyOf(organization.id, 'one', id), { data, etag });
    await changed();
  };
}

/** Asks DNS now. */
export function useVerify(id: string) {
  const t = useTranslations('sender-domains');
  const api = useApi();
  const say = useSay();
  const take = useTake(id);
  return useMutation({
    mutationFn: () => api.POST('/v1/messaging/sender-domains/{id}/verify', { params: { path: { id } } }),
    onSuccess: async (answer) => {
      await take(answer);
      const { domain, state, records } = answer.data;
      say(
        state === 'verified'
          ? t('verifiedSaid', { domain })
          : t('notYetSaid', { domain, ...foundOf(records) }),
      );
    },
  });
}

/** A new pair of keys; while one waits for its records it is that one. */
export function useRotate(id: string) {
  const t = useTranslations('sender-domains');
  const api = useApi();
  const say = useSay();
  const take = useTake(id);
  return useMutation({
    mutationFn: () =>
      api.PATCH('/v1/messaging/sender-domains/{id}', {
        params: { path: { id } },
        body: { rotate_dkim: true },
      }),
    onSuccess: async (answer) => {
      await take(answer);
      say(t('rotatedSaid', { domain: answer.data.domain }));
    },
  });
}
