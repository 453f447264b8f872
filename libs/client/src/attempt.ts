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
 * A redirect of a GET is followed to the same origin; no other is an answer of the service.
 *
 * @throws NetworkError where no whole answer of the service comes in time, and the reason of `signal` when it is aborted
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
    if (leadsAway(request, response)) throw new NetworkError(call, 'redirected');
    const { status, ok, headers, url } = response;
    return { status, ok, headers, text: await response.text(), url };
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof NetworkError) throw cause;
    throw new NetworkError(call, timedOut ? 'timeout' : 'unreachable', cause);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Browsers hide a redirect that they were told not to follow, other runtimes hand it out as it came. */
function leadsAway({ url: asked }: Request, { type, status, url }: Response): boolean {
  if (type === 'opaqueredirect' || REDIRECTS.has(status)) return true;
  return url !== '' && new URL(url).origin !== new URL(asked).origin;
}
