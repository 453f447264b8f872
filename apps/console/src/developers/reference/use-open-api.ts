import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import type { OpenApi } from './open-api.ts';

/** The platform's own description; it is large, so it is read where it is needed, once. */
export function useOpenApi() {
  const api = useApi();
  return useQuery({
    queryKey: ['openapi'],
    staleTime: Infinity,
    gcTime: Infinity,
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/v1/openapi.json', { signal });
      return data as unknown as OpenApi;
    },
  });
}
