import { ProblemError } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useApi } from '../api/api.tsx';
import { useOwnQuery, useReadAnew } from '../ui/queries.ts';
import type { Reading } from '../ui/use-edit.tsx';
import type { Attribute } from './attribute-draft.ts';

/** While values are being converted it is read again so often. */
const AGAIN_MS = 1_000;

export type OnFailure = 'refuse' | 'clear';

/** What would become of the values that contacts have. */
export interface Outcome {
  convertible: number;
  unconvertible: number;
  /** Whether there was time for all contacts; else these are the counts so far. */
  complete: boolean;
  samples: { contact_id: string; value: string; code: string }[];
}

export function useAttribute(id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['attributes', 'one', id],
    queryFn: async ({ signal }): Promise<Reading<Attribute>> =>
      api.GET('/v1/core/attribute-definitions/{id}', { params: { path: { id } }, signal }),
    refetchInterval: ({ state }) => (state.data?.data.conversion == null ? false : AGAIN_MS),
  });
}

export const useAttributesChanged = (): (() => Promise<void>) => useReadAnew('attributes');

/** What would be lost by a change that was refused for it. */
export function lostBy(error: unknown): Outcome | undefined {
  if (!(error instanceof ProblemError) || error.code !== 'attribute_migration_conflict') return undefined;
  const {
    convertible = 0,
    unconvertible = 0,
    complete = true,
    samples = [],
  } = error.body as Partial<Outcome>;
  return { convertible, unconvertible, complete, samples };
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
