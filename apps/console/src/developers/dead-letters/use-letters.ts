import type { ItemOf } from '@customer-platform/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/api.tsx';
import { usePerson } from '../../session/use-session.tsx';

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
/** A million letters. */
const MOST_CALLS = 100;

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
  const client = useQueryClient();
  const { organization } = usePerson();
  return () => client.invalidateQueries({ queryKey: [organization.id, 'dead-letters'] });
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

/** Runs all that the filters let through again; what is closed or runs already is left out. Answers how many. */
export function useReplayAll() {
  const api = useApi();
  const changed = useLettersChanged();
  const [queued, setQueued] = useState(0);
  const mutation = useMutation({
    mutationFn: async (filters: LetterFilters) => {
      const said = Object.entries({ ...filters, state: 'pending' });
      const filter = Object.fromEntries(
        said.filter((each): each is [string, string] => each[1] !== undefined),
      );
      let sum = 0;
      // One call takes so many; what it took is pending no more, and the next call takes others.
      for (let calls = 0; calls < MOST_CALLS; calls += 1) {
        const { data } = await api.POST('/v1/core/dead-letters/replay', { body: { filter } });
        setQueued((sum += data.matched));
        if (!data.truncated) break;
      }
      return sum;
    },
    onSettled: changed,
  });
  return { ...mutation, queued };
}
