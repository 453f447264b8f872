import { ProblemError, type Client } from '@customer-platform/client';

/** What a call of the API may be told, as far as its key depends on it. */
interface Written {
  params?: { path?: { id?: string }; query?: { dry_run?: unknown } };
  body?: { dry_run?: unknown; reverses_id?: unknown };
  idempotencyKey?: string;
}

interface Answered {
  replayed: boolean;
}

/** Names what a write changes, as far as one write may take back another. */
interface Place {
  /** The collection, as `/v1/crm/notes`. */
  collection: string;
  /** Undefined: one more of the collection. */
  id: string | undefined;
  makesOneMore: boolean;
}

interface KeptKey {
  key: string;
  since: number;
  place: Place;
}

interface WriteKeysOptions {
  now?: () => number;
  /** Called where an answer is that of an attempt before: since then the thing may have been written otherwise. */
  onReplay: () => void;
}

/** Later than this the same text is a new wish: a mail that is to go out once more, for one. */
const KEPT_MS = 3_600_000;

/**
 * Says how something is to be, so that to say it twice does no harm. A kept key would answer for what was said before
 * another deletion, or before somebody else said otherwise, and nothing would be written.
 */
const SAYS_A_STATE = /\/(restore|replay|consents|suppressions|members|identities)$/;

/** Only asks, although by POST. */
const ASKS = /\/(check|preview|explain|lookup)$/;

/** Refusals that come before the platform looks at the key: they say nothing of an attempt before. */
const UNDECIDED = new Set([401, 403, 408, 429]);

type Send = (path: string, init: Written) => Promise<Answered>;

/**
 * The API, with one key for each thing that is written, until it is known what became of it: whoever presses again
 * after an answer got lost gets the first answer, and nothing is made, or sent, twice. Another body is another thing,
 * and what was written otherwise in between makes the same text a new wish.
 */
export function withWriteKeys(client: Client, { now = Date.now, onReplay }: WriteKeysOptions): Client {
  const kept = new Map<string, KeptKey>();
  const keyOf = (name: string, place: Place): string => {
    const at = now();
    for (const [other, { since }] of kept) if (at - since > KEPT_MS) kept.delete(other);
    const { key, since } = kept.get(name) ?? { key: randomKey(), since: at };
    kept.set(name, { key, since, place });
    return key;
  };
  const forget = (name: string, written: Place): void => {
    for (const [other, { place }] of kept) if (other !== name && mayUndo(written, place)) kept.delete(other);
  };
  // Whatever the route: its types are those of `Client`, which are kept.
  const following =
    (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', send: Send): Send =>
    async (path, init = {}) => {
      if (onlyAsks(path, init)) return send(path, init);
      const place = placeOf(method, path, init);
      const name = nameOf(path, init);
      try {
        const answer = await send(path, init);
        forget(name, place);
        return answer;
      } catch (error) {
        if (!isRefused(error)) forget(name, place);
        throw error;
      }
    };
  const once =
    (send: Send): Send =>
    async (path, init = {}) => {
      if (init.idempotencyKey !== undefined || SAYS_A_STATE.test(path)) return send(path, init);
      const name = nameOf(path, init);
      const key = keyOf(name, placeOf('POST', path, init));
      const decided = (): unknown => kept.get(name)?.key === key && kept.delete(name);
      try {
        const answer = await send(path, { ...init, idempotencyKey: key });
        decided();
        if (answer.replayed) onReplay();
        return answer;
      } catch (error) {
        if (isDecided(error)) decided();
        throw error;
      }
    };
  return {
    ...client,
    POST: following('POST', once(client.POST as unknown as Send)) as unknown as Client['POST'],
    PUT: following('PUT', client.PUT as unknown as Send) as unknown as Client['PUT'],
    PATCH: following('PATCH', client.PATCH as unknown as Send) as unknown as Client['PATCH'],
    DELETE: following('DELETE', client.DELETE as unknown as Send) as unknown as Client['DELETE'],
  };
}

function nameOf(path: string, { params, body }: Written): string {
  return JSON.stringify([path, params, body]);
}

function onlyAsks(path: string, { params, body }: Written): boolean {
  return ASKS.test(path) || body?.dry_run === true || params?.query?.dry_run !== undefined;
}

function placeOf(method: string, path: string, { params, body }: Written): Place {
  const [, version, part, noun, ...rest] = path.split('/');
  return {
    collection: [version, part, noun].join('/'),
    id: params?.path?.id,
    makesOneMore: method === 'POST' && rest.length === 0 && body?.reverses_id === undefined,
  };
}

/** Tells whether a write at `written` may have undone what was asked for at `before`. */
function mayUndo(written: Place, before: Place): boolean {
  if (written.collection !== before.collection) return false;
  if (written.makesOneMore && before.makesOneMore) return false;
  return written.id === undefined || before.id === undefined || written.id === before.id;
}

/** Tells whether an error means that nothing was written. */
function isRefused(error: unknown): boolean {
  return error instanceof ProblemError && error.status >= 400 && error.status < 500 && error.status !== 408;
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
