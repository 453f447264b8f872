import { keepPreviousData, type QueryKey } from '@tanstack/react-query';
import { useOwnQuery } from './queries.ts';

/** The number of ids that a filter takes. */
const AT_ONCE = 100;

type Named = readonly { id: string; name: string }[];

/** Names things by their ids: all that are asked for, whatever else there is. */
export function useNamesById(
  key: QueryKey,
  ids: readonly string[],
  enabled: boolean,
  read: (ids: string[], signal: AbortSignal) => Promise<Named>,
): ReadonlyMap<string, string> {
  const asked = [...new Set(ids)].sort();
  const { data } = useOwnQuery({
    queryKey: [...key, asked],
    enabled: enabled && asked.length > 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Named> => {
      const pieces = Array.from({ length: Math.ceil(asked.length / AT_ONCE) }, (_, at) =>
        asked.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
      );
      return (await Promise.all(pieces.map((piece) => read(piece, signal)))).flat();
    },
  });
  return new Map((data ?? []).map(({ id, name }) => [id, name]));
}
