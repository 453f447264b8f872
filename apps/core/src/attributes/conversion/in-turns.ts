import { yieldLoop } from '@customer-platform/http';

/** As long as going through values may hold the event loop. */
const STEP_MS = 5;

/** Visits each item; others come to their turn in between. Ends early, with false, where `goOn` says no. */
export async function inTurns<T>(
  items: readonly T[],
  visit: (item: T) => void,
  goOn: () => boolean = () => true,
): Promise<boolean> {
  let since = performance.now();
  for (const item of items) {
    if (performance.now() - since >= STEP_MS) {
      await yieldLoop();
      if (!goOn()) return false;
      since = performance.now();
    }
    visit(item);
  }
  return true;
}
