/** How often it is asked, in milliseconds, and how many times: half an hour, then a person may press. */
const EVERY_MS = 3_000;
const MOST_TIMES = 600;

/** Asks the provider of sign-in, which the Console asks first, whether it answers at all. */
async function isThere(signal: AbortSignal): Promise<boolean> {
  try {
    const { ok } = await fetch('/.well-known/openid-configuration', { cache: 'no-store', signal });
    return ok;
  } catch {
    return false;
  }
}

/**
 * Resolves with true once the platform was seen silent and answers again; with false when the signal says to stop.
 * A platform that answers all along has another fault: loading the page again and again would not help.
 */
export async function answersAgain(signal: AbortSignal, ask = isThere, everyMs = EVERY_MS): Promise<boolean> {
  let wasSilent = false;
  for (let times = 0; times < MOST_TIMES && !signal.aborted; times += 1) {
    const answers = await ask(signal);
    if (answers && wasSilent) return !signal.aborted;
    wasSilent ||= !answers;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return false;
}
