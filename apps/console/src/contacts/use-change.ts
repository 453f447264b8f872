import { ProblemError } from '@customer-platform/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { usePerson } from '../session/use-session.tsx';

/** A change that a contact's pages are read anew after. */
export function useChange<Input = void, Output = unknown>(
  contactId: string,
  change: (input: Input) => Promise<Output>,
  onSuccess?: (output: Output, input: Input) => void,
) {
  const changed = useChanged(contactId);
  return useMutation({
    mutationFn: change,
    onSuccess: async (output, input) => {
      onSuccess?.(output, input);
      await changed();
    },
  });
}

/** Has a contact's pages read anew. */
export function useChanged(contactId: string): () => Promise<void> {
  const queries = useQueryClient();
  const { organization } = usePerson();
  return () => queries.invalidateQueries({ queryKey: [organization.id, 'contacts', contactId] });
}

/** Somebody else changed it since it was read. */
export function isConflict(error: unknown): boolean {
  return error instanceof ProblemError && error.status === 412;
}
