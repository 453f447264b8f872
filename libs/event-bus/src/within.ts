/** The other side did not answer in time. */
export class SendTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`Kafka did not answer within ${String(timeoutMs)} ms`);
    this.name = 'SendTimeout';
  }
}

/** The promise's result, or `SendTimeout` after `timeoutMs`; what becomes of it later has nobody to tell. */
export async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new SendTimeout(timeoutMs));
    }, timeoutMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after `ms`. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
