import type { Schemas } from '@customer-platform/client';
import { useApi } from '../api/api.tsx';
import { useOwnQuery } from '../ui/queries.ts';

export type Contact = Schemas['ContactDto'];

/** A contact with what a change of it is based on; of a merged one, its survivor. */
export function useContact(id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['contacts', id, 'profile'],
    queryFn: async ({ signal }) => {
      const { data, etag, mergedInto } = await api.GET('/v1/core/contacts/{id}', {
        params: { path: { id } },
        signal,
      });
      return { contact: data, etag, mergedInto };
    },
  });
}
