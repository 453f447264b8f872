import { createContext, useContext, useSyncExternalStore, type ReactNode } from 'react';
import type { Person } from './person.ts';
import type { Session, SessionState } from './session.ts';

const SessionContext = createContext<Session | undefined>(undefined);

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }): ReactNode {
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** @throws outside of the Console */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('No SessionProvider is around');
  return session;
}

export function useSessionState(): SessionState {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, session.current);
}

/** Who is signed in. @throws where nobody is */
export function usePerson(): Person {
  const state = useSessionState();
  if (state.kind !== 'signed-in') throw new Error('Nobody is signed in');
  return state.person;
}

/** Whether the person may do something here; what they may not is not shown. */
export function useMay(): (permission: string) => boolean {
  const { permissions } = usePerson();
  return (permission) => permissions.has(permission);
}
