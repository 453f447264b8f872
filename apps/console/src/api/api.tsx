import { createClient, ProblemError, type Client } from '@customer-platform/client';
import { createContext, useContext, useMemo, type ReactNode } from 'react';
import type { Session } from '../session/session.ts';
import { queryClient } from './query-client.ts';
import { withWriteKeys } from './write-keys.ts';

const ApiContext = createContext<Client | undefined>(undefined);

/** Refusals that say: what one may do here has changed. */
const RIGHTS_CHANGED = new Set(['permission_denied', 'mfa_required', 'organization_suspended']);

/** How long a page asks before it says that nobody answers: one attempt, and all of them together. */
const PATIENCE = { timeoutMs: 10_000, retry: { withinMs: 15_000 } } as const;

interface ApiProviderProps {
  session: Session;
  organizationId: string;
  children: ReactNode;
}

/** The public API with the tokens of one organization: what was begun here never goes on in another. */
export function ApiProvider({ session, organizationId, children }: ApiProviderProps): ReactNode {
  const api = useMemo(
    () =>
      withWriteKeys(
        createClient({
          baseUrl: window.location.origin,
          ...PATIENCE,
          credentials: session.tokensOf(organizationId),
          onProblem: (error) => {
            if (error instanceof ProblemError && RIGHTS_CHANGED.has(error.code)) void session.readAgain();
          },
        }),
        { onReplay: () => void queryClient.invalidateQueries() },
      ),
    [session, organizationId],
  );
  return <ApiContext value={api}>{children}</ApiContext>;
}

/** @throws outside of the signed-in part of the Console */
export function useApi(): Client {
  const api = useContext(ApiContext);
  if (api === undefined) throw new Error('No ApiProvider is around');
  return api;
}

/** Whether the platform says that it has no such route: an older release than this page. */
export function isUnknownRoute(error: unknown): boolean {
  return error instanceof ProblemError && error.code === 'route_not_found';
}
