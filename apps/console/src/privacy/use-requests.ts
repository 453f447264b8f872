import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../api/api.tsx';
import { usePerson } from '../session/use-session.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import type { Reading } from '../ui/use-edit.tsx';
import { isByHand, type NewRequest, type RequestChange, type SubjectRequest } from './subject-request.ts';

/** While modules work on it. */
const READ_EVERY_MS = 2_000;

export function useRequest(id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['privacy', 'one', id],
    queryFn: async ({ signal }): Promise<Reading<SubjectRequest>> =>
      api.GET('/v1/core/subject-requests/{id}', { params: { path: { id } }, signal }),
    refetchInterval: ({ state: { data: read } }) =>
      read?.data.state === 'in_progress' && !isByHand(read.data) ? READ_EVERY_MS : false,
  });
}

/** Has what shows requests, or their persons, read anew. */
function useRequestsChanged(): () => Promise<unknown> {
  const cache = useQueryClient();
  const { organization } = usePerson();
  return () =>
    Promise.all(
      ['privacy', 'contacts'].map((part) => cache.invalidateQueries({ queryKey: [organization.id, part] })),
    );
}

export function useCreateRequest(onMade: (request: SubjectRequest) => void) {
  const api = useApi();
  const changed = useRequestsChanged();
  return useMutation({
    mutationFn: async (body: NewRequest) => (await api.POST('/v1/core/subject-requests', { body })).data,
    onSuccess: async (request) => {
      await changed();
      onMade(request);
    },
  });
}

/** A change of the request as it was read: whoever decides has seen what it says. */
export function useChangeRequest({ data, etag }: Reading<SubjectRequest>, onDone: () => void) {
  const api = useApi();
  const changed = useRequestsChanged();
  const params = { path: { id: data.id } };
  return useMutation({
    mutationFn: (body: RequestChange) =>
      api.PATCH('/v1/core/subject-requests/{id}', { params, body, ifMatch: etag }),
    onSuccess: onDone,
    onSettled: changed,
  });
}
