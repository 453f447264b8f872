/** A scrape and a probe have to end too. */
const CHECK_TIMEOUT_MS = 2_000;

/** Whether a check ends well within 2 s. Why it did not is in the log of the part that it looks at. */
export async function passesInTime(check: () => Promise<void> | void): Promise<boolean> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer')), CHECK_TIMEOUT_MS);
  try {
    await Promise.race([(async () => check())(), late]);
    return true;
  } catch {
    return false; // the part itself logs why
  } finally {
    clearTimeout(timer);
  }
}
