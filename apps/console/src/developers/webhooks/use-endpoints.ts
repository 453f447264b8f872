import { ProblemError, type BodyOf, type ItemOf } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useOwnQuery, useReadAnew } from '../../ui/queries.ts';
import { useSay } from '../../ui/toasts.tsx';

export type Endpoint = ItemOf<'/v1/messaging/webhook-endpoints'>;
type NewEndpoint = BodyOf<'post', '/v1/messaging/webhook-endpoints'>;
type EndpointChange = BodyOf<'patch', '/v1/messaging/webhook-endpoints/{id}'>;

/** What of an endpoint is written in its form. */
export interface EndpointDraft {
  name: string;
  url: string;
  events: readonly string[];
}

/** A new one says how it is signed, too. */
type NewEndpointDraft = EndpointDraft & Pick<Endpoint, 'signing'>;

/** An endpoint with what names its version. */
export interface ReadEndpoint {
  endpoint: Endpoint;
  etag: string | undefined;
}

const READ_EVERY_MS = 5_000;

export function useEndpoint(id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['webhook-endpoints', 'one', id],
    // Deliveries come and go while one looks.
    refetchInterval: READ_EVERY_MS,
    queryFn: async ({ signal }): Promise<ReadEndpoint> => {
      const params = { path: { id } };
      const { data, etag } = await api.GET('/v1/messaging/webhook-endpoints/{id}', { params, signal });
      return { endpoint: data, etag };
    },
  });
}

function useEndpointsChanged(): () => Promise<void> {
  const changed = useReadAnew('webhook-endpoints');
  return changed;
}

export function useCreateEndpoint() {
  const api = useApi();
  const changed = useEndpointsChanged();
  return useMutation({
    // The names were offered by the platform's own document, or typed: it says which of them it does not know.
    mutationFn: async (draft: NewEndpointDraft) =>
      (await api.POST('/v1/messaging/webhook-endpoints', { body: draft as NewEndpoint })).data,
    onSuccess: changed,
  });
}

/** Changes the version that `etag` names; without one whatever is there. */
export function useChangeEndpoint(id: string) {
  const api = useApi();
  const changed = useEndpointsChanged();
  return useMutation({
    mutationFn: async ({ body, etag }: { body: EndpointChange; etag: string | undefined }) => {
      const call = { params: { path: { id } }, body, ifMatch: etag };
      return (await api.PATCH('/v1/messaging/webhook-endpoints/{id}', call)).data;
    },
    onSettled: changed,
  });
}

/** Deletes softly, and offers to take it back. */
export function useDeleteEndpoint({ id, name }: Endpoint, done: () => void) {
  const t = useTranslations('developers');
  const api = useApi();
  const say = useSay();
  const changed = useEndpointsChanged();
  const params = { path: { id } };
  const restore = async (): Promise<void> => {
    await api.POST('/v1/messaging/webhook-endpoints/{id}/restore', { params });
    await changed();
  };
  return useMutation({
    mutationFn: () => api.DELETE('/v1/messaging/webhook-endpoints/{id}', { params }),
    onSuccess: async () => {
      done();
      await changed();
      say(t('hooks.deleted', { name }), restore);
    },
  });
}

/** Somebody else has changed it since it was read. */
export function isStale(error: unknown): boolean {
  return error instanceof ProblemError && error.code === 'etag_mismatch';
}
