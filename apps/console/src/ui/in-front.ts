import { useEffect, useSyncExternalStore } from 'react';

/** Counts what stands in front of the page without being a dialog itself. */
let standing = 0;
const heard = new Set<() => void>();

function stand(change: 1 | -1): void {
  standing += change;
  for (const hear of heard) hear();
}

/** Stands in front of the page while it is shown: a dialog that comes meanwhile, as by a late answer, waits behind it. */
export function useStandsInFront(): void {
  useEffect(() => {
    stand(1);
    return () => stand(-1);
  }, []);
}

/** Tells whether a dialog may come to the front. */
export function useIsFrontFree(): boolean {
  return useSyncExternalStore(subscribe, () => standing === 0);
}

function subscribe(hear: () => void): () => void {
  heard.add(hear);
  return () => void heard.delete(hear);
}
