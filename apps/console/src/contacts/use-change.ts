import { ProblemError } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useReadAnew } from '../ui/queries.ts';

/** A change that a contact's pages are read anew after, also where somebody else was first: the next try is of what is there now. */
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
    onError: (error) => (isConflict(error) ? changed() : undefined),
  });
}

/** Has a contact's pages read anew. */
export function useChanged(contactId: string): () => Promise<void> {
  const changed = useReadAnew('contacts', contactId);
  return changed;
}

/** Somebody else changed it since it was read. */
export function isConflict(error: unknown): boolean {
  return error instanceof ProblemError && error.status === 412;
}
