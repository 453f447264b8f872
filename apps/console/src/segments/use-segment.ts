import type { Schemas } from '@customer-platform/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { usePerson } from '../session/use-session.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { useSay } from '../ui/toasts.tsx';

export type Segment = Schemas['SegmentDto'];

/** Until a new rule has been applied to all contacts, its figures change by themselves. */
const BUILDING_MS = 1_500;
const READY_MS = 10_000;

/** One segment with its etag, asked again while one looks at it. */
export function useSegment(id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['segments', 'one', id],
    queryFn: async ({ signal }) => {
      const { data, etag } = await api.GET('/v1/core/segments/{id}', { params: { path: { id } }, signal });
      return { segment: data, etag };
    },
    refetchInterval: ({ state }) => (state.data?.segment.state === 'building' ? BUILDING_MS : READY_MS),
  });
}

/** What one can do with a whole segment. */
export function useSegmentActs({ id, name }: Pick<Segment, 'id' | 'name'>) {
  const t = useTranslations('segments');
  const api = useApi();
  const cache = useQueryClient();
  const say = useSay();
  const { organization } = usePerson();
  const params = { path: { id } };
  const changed = (): Promise<void> => cache.invalidateQueries({ queryKey: [organization.id, 'segments'] });
  const restore = useMutation({
    mutationFn: () => api.POST('/v1/core/segments/{id}/restore', { params }),
    onSuccess: async () => {
      await changed();
      say(t('restored', { name }));
    },
  });
  const remove = useMutation({
    mutationFn: () => api.DELETE('/v1/core/segments/{id}', { params }),
    onSuccess: async () => {
      await changed();
      say(t('deleted', { name }), () => restore.mutateAsync());
    },
  });
  const purge = useMutation({
    mutationFn: () => api.DELETE('/v1/core/segments/{id}/purge', { params }),
    onSuccess: async () => {
      cache.removeQueries({ queryKey: [organization.id, 'segments', 'one', id] });
      await cache.invalidateQueries({ queryKey: [organization.id, 'segments', 'list'] });
      say(t('purged', { name }));
    },
  });
  return { remove, restore, purge };
}
