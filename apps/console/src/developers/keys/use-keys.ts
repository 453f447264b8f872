import type { ItemOf } from '@customer-platform/client';
import { useQueryClient } from '@tanstack/react-query';
import { usePerson } from '../../session/use-session.tsx';

export type ApiKey = ItemOf<'/v1/identity/api-keys'>;

/** Reads the list of keys anew, whatever filters it. */
export function useKeysChanged(): () => Promise<void> {
  const client = useQueryClient();
  const { organization } = usePerson();
  return () => client.invalidateQueries({ queryKey: [organization.id, 'api-keys'] });
}
