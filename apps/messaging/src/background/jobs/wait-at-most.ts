/** Waits until the work has ended, or so long; what has not ended then goes on by itself. */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  try {
    await Promise.race([work, patience]);
  } finally {
    clearTimeout(timer);
  }
}
