import { ProblemError, type Client } from '@customer-platform/client';

/** What a call of the API may be told, as far as its key depends on it. */
interface Written {
  params?: unknown;
  body?: unknown;
  idempotencyKey?: string;
}

interface KeptKey {
  key: string;
  since: number;
}

/** Later than this the same text is a new wish: a mail that is to go out once more, for one. */
const KEPT_MS = 3_600_000;

/** Done once however often they are asked for; a kept key would answer for a restore of before another deletion. */
const ONCE_BY_NATURE = /\/(restore|replay)$/;

/** Refusals that come before the platform looks at the key: they say nothing of an attempt before. */
const UNDECIDED = new Set([401, 403, 408, 429]);

/**
 * The API, with one key for each thing that is written, until it is known what became of it: whoever presses again
 * after an answer got lost gets the first answer, and nothing is made, or sent, twice. Another body is another thing.
 */
export function withWriteKeys(client: Client, now: () => number = Date.now): Client {
  const kept = new Map<string, KeptKey>();
  const keyOf = (name: string): string => {
    const at = now();
    for (const [other, { since }] of kept) if (at - since > KEPT_MS) kept.delete(other);
    const { key, since } = kept.get(name) ?? { key: randomKey(), since: at };
    kept.set(name, { key, since });
    return key;
  };
  // Whatever the route: its types are those of `Client`, which are kept.
  const send = client.POST as unknown as (path: string, init: Written) => Promise<unknown>;
  const post = async (path: string, init: Written = {}): Promise<unknown> => {
    if (init.idempotencyKey !== undefined || ONCE_BY_NATURE.test(path)) return send(path, init);
    const name = JSON.stringify([path, init.params, init.body]);
    const key = keyOf(name);
    const decided = (): unknown => kept.get(name)?.key === key && kept.delete(name);
    try {
      const answer = await send(path, { ...init, idempotencyKey: key });
      decided();
      return answer;
    } catch (error) {
      if (isDecided(error)) decided();
      throw error;
    }
  };
  return { ...client, POST: post as unknown as Client['POST'] };
}

/** Whether it is known that nothing was done. */
function isDecided(error: unknown): boolean {
  if (!(error instanceof ProblemError) || error.code === 'idempotency_in_progress') return false;
  return error.status >= 400 && error.status < 500 && !UNDECIDED.has(error.status);
}

/** 128 random bits; `crypto.randomUUID` is missing on pages that came by plain HTTP. */
function randomKey(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
