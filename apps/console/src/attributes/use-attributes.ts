import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../api/api.tsx';
import { usePerson } from '../session/use-session.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import type { Attribute } from './attribute-draft.ts';

/** While values are being converted it is read again so often. */
const AGAIN_MS = 1_000;

export type OnFailure = 'refuse' | 'clear';

/** What would become of the values that contacts have. */
export interface Outcome {
  convertible: number;
  unconvertible: number;
  samples: { contact_id: string; value: string; code: string }[];
}

export function useAttribute(id: string) {
  const api = useApi();
  const { organization } = usePerson();
  return useQuery({
    queryKey: [organization.id, 'attributes', 'one', id],
    queryFn: async ({ signal }): Promise<Reading<Attribute>> =>
      api.GET('/v1/core/attribute-definitions/{id}', { params: { path: { id } }, signal }),
    refetchInterval: ({ state }) => (state.data?.data.conversion == null ? false : AGAIN_MS),
  });
}

export function useAttributesChanged(): () => Promise<void> {
  const cache = useQueryClient();
  const { organization } = usePerson();
  return () => cache.invalidateQueries({ queryKey: [organization.id, 'attributes'] });
}

interface Asked {
  /** Shows what would become of values. */
  ask: () => Promise<Outcome>;
  /** Writes what was asked for. */
  go: (onFailure: OnFailure) => void;
}

/** Asks first what would be lost, and goes on by itself where nothing is; else `lost` waits for a decision. */
export function useForecast({ ask, go }: Asked) {
  const asking = useMutation({
    mutationFn: ask,
    onSuccess: ({ unconvertible }) => {
      if (unconvertible === 0) go('refuse');
    },
  });
  const lost = asking.data !== undefined && asking.data.unconvertible > 0 ? asking.data : undefined;
  return {
    begin: () => asking.mutate(),
    forget: asking.reset,
    busy: asking.isPending,
    error: asking.error,
    lost,
  };
}
