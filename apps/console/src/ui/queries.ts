import {
  useQuery,
  useQueryClient,
  type QueryKey,
  type UseQueryOptions,
  type UseQueryResult,
} from '@tanstack/react-query';
import { usePerson } from '../session/use-session.tsx';

/** A query of the organization, by whose id its key begins: nothing of one is shown in another. */
export function useOwnQuery<Data>(options: UseQueryOptions<Data>): UseQueryResult<Data> {
  const { organization } = usePerson();
  return useQuery({ ...options, queryKey: [organization.id, ...options.queryKey] });
}

/** Reads anew whatever of the organization has a key that begins so. */
export function useReadAnew(...key: QueryKey): () => Promise<void> {
  const queries = useQueryClient();
  const { organization } = usePerson();
  return () => queries.invalidateQueries({ queryKey: [organization.id, ...key] });
}
