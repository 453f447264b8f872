import type { BodyOf, ItemOf } from '@customer-platform/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { usePerson } from '../../session/use-session.tsx';

/** A row of the ledger. */
export type Transaction = ItemOf<'/v1/loyalty/transactions'>;
type NewTransaction = BodyOf<'post', '/v1/loyalty/transactions'>;

/** Adds to the ledger; once, also where an answer was lost and one presses again. */
export function useTransaction(onDone: (points: number) => void) {
  const api = useApi();
  const cache = useQueryClient();
  const { organization } = usePerson();
  return useMutation({
    mutationFn: async (body: NewTransaction) => (await api.POST('/v1/loyalty/transactions', { body })).data,
    onSuccess: async ({ points }) => {
      // The balance and the points of a contact are read by its own pages, too.
      await Promise.all(
        ['loyalty', 'contacts'].map((part) => cache.invalidateQueries({ queryKey: [organization.id, part] })),
      );
      onDone(points);
    },
  });
}
