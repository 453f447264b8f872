import { NetworkError, ProblemError } from '@customer-platform/client';
import { QueryClient } from '@tanstack/react-query';

const FRESH_MS = 10_000;
const TRIES = 3;

/** What was read of the API: shown at once when one comes back, and read anew beside. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      // The client itself has repeated what is worth it, for as long as somebody looks at a page that loads.
      retry: (failures, error) =>
        !(error instanceof ProblemError || error instanceof NetworkError) && failures < TRIES,
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
