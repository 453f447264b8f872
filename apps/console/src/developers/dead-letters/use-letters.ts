import type { ItemOf } from '@customer-platform/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/api.tsx';
import { usePerson } from '../../session/use-session.tsx';
import { useReadAnew } from '../../ui/queries.ts';
import { replayByCalls } from './replay-by-calls.ts';

export type DeadLetter = ItemOf<'/v1/core/dead-letters'>;

/** What a list of letters is filtered by, in the API's words. */
export interface LetterFilters {
  state?: DeadLetter['state'] | undefined;
  stage?: DeadLetter['stage'] | undefined;
  code?: string | undefined;
  external_id?: string | undefined;
  event_id?: string | undefined;
}

const RUNNING_READ_EVERY_MS = 1_000;

/** All letters of one event, the last failure first. */
export function useLettersOf(event_id: string) {
  const api = useApi();
  const { organization } = usePerson();
  return useQuery<DeadLetter[]>({
    queryKey: [organization.id, 'dead-letters', 'of', event_id],
    // What runs has an end soon.
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ state }) => state === 'replaying') === true && RUNNING_READ_EVERY_MS,
    queryFn: async ({ signal }) => {
      const query = { event_id, limit: 20 };
      return (await api.GET('/v1/core/dead-letters', { params: { query }, signal })).data.data;
    },
  });
}

function useLettersChanged(): () => Promise<void> {
  const changed = useReadAnew('dead-letters');
  return changed;
}

/** Runs one again. */
export function useReplay() {
  const api = useApi();
  const changed = useLettersChanged();
  return useMutation({
    mutationFn: (id: string) => api.POST('/v1/core/dead-letters/{id}/replay', { params: { path: { id } } }),
    onSettled: changed,
  });
}

/** Runs all that the filters let through again until it is canceled; what is closed or runs already is left out. */
export function useReplayAll(onEnd: (end: { sum: number; stopped: boolean }) => void) {
  const api = useApi();
  const changed = useLettersChanged();
  const [queued, setQueued] = useState(0);
  const [ending, setEnding] = useState<AbortController>();
  const mutation = useMutation({
    mutationFn: (filters: LetterFilters) => {
      const end = new AbortController();
      setEnding(end);
      setQueued(0);
      const said = Object.entries({ ...filters, state: 'pending' });
      const filter = Object.fromEntries(
        said.filter((each): each is [string, string] => each[1] !== undefined),
      );
      const call = async () => (await api.POST('/v1/core/dead-letters/replay', { body: { filter } })).data;
      return replayByCalls(call, end.signal, setQueued);
    },
    onSuccess: onEnd,
    onSettled: changed,
  });
  return { ...mutation, queued, cancel: () => ending?.abort() };
}
