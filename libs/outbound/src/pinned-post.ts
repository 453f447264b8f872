import type { IncomingMessage } from 'node:http';
import { resolveHost, type ResolveHost } from './host-resolver.js';
import { sendPinned, type OutboundFailure } from './pinned-request.js';

/** One POST to a customer's address. */
interface PinnedPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For all of it: name, connection, answer. */
  readonly timeoutMs: number;
  /** In local mode this very machine may be called. */
  readonly allowLoopback: boolean;
  /** Ports that are called beside 80 and 443. */
  readonly ports?: readonly number[];
}

/** What came back: the status of an answer, whatever it is, or why there was none. */
export type PostAnswer =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly failure: OutboundFailure };

/** As much of an answer's body is read as keeps its server content, and thrown away. */
const DRAINED_BYTES = 16 * 1024;

/**
 * Posts to a host that a customer has named, by an address that was checked. The answer is its status; its body is
 * thrown away. Never throws.
 */
export async function postPinned(post: PinnedPost, resolve: ResolveHost = resolveHost): Promise<PostAnswer> {
  const signal = AbortSignal.timeout(post.timeoutMs);
  const answer = await sendPinned({ ...post, method: 'POST' }, signal, resolve);
  if (typeof answer === 'string') return { failure: answer };
  drain(answer);
  return { status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] };
}

function drain(answer: IncomingMessage): void {
  let read = 0;
  answer.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > DRAINED_BYTES) answer.destroy();
  });
  // The status has been told; how the rest ends changes nothing.
  answer.on('error', () => answer.destroy());
}
