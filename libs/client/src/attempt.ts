import { type CallName, NetworkError } from './problem-error.js';

/** A whole answer, its body read. */
export interface Received {
  status: number;
  ok: boolean;
  headers: Headers;
  text: string;
  /** Where it came from, after redirects. */
  url: string;
}

/** What sends a request; as `fetch` does. */
export type Send = (request: Request) => Promise<Response>;

/**
 * Sends a request once and reads its whole answer.
 *
 * @throws NetworkError where no whole answer comes in time, and the reason of `signal` when it is aborted
 */
export async function receive(
  call: CallName,
  request: Request,
  { send, signal, timeoutMs }: { send: Send; signal?: AbortSignal; timeoutMs: number },
): Promise<Received> {
  // One that follows both the caller's signal and the time: AbortSignal.any is missing in Node 20.0 and older browsers.
  const ending = new AbortController();
  let timedOut = false;
  const abort = (): void => ending.abort(signal?.reason);
  const timer = setTimeout(() => {
    timedOut = true;
    ending.abort();
  }, timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    signal?.throwIfAborted();
    const response = await send(new Request(request, { signal: ending.signal }));
    const { status, ok, headers, url } = response;
    return { status, ok, headers, text: await response.text(), url };
  } catch (cause) {
    signal?.throwIfAborted();
    throw new NetworkError(call, timedOut ? 'timeout' : 'unreachable', cause);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
