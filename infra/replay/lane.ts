import type { Line } from './lines.ts';

export interface Verdict {
  line: Line;
  /** Undefined where the event was accepted. */
  refusal?: { code: string; detail: string };
}

interface Item {
  index: number;
  event_id?: string;
  code?: string;
  detail?: string;
  retryable?: boolean;
}

interface Answer {
  results?: Item[];
  errors?: Item[];
  code?: string;
  detail?: string;
}

export interface Destination {
  baseUrl: string;
  key: string;
}

/** A batch may hold 500 events and 500 KiB (contract §6); some room is left for brackets and commas. */
export const MOST_EVENTS = 500;
export const MOST_BYTES = 480 * 1024;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Statuses after which the same request may succeed; every event carries its key, so repeating is safe. */
const TRANSIENT = new Set([408, 429, 502, 503, 504]);

/**
 * Sends one batch until each of its events has a verdict: waits as `Retry-After` asks, doubles its own pause
 * where nothing is asked, and repeats only the items that may yet pass.
 *
 * @throws Error where the platform says something that no retry changes (401, 403, a body it does not understand).
 */
export async function settleBatch(
  lines: Line[],
  to: Destination,
  patience: {
    sleep: (ms: number) => Promise<void>;
    giveUp: () => boolean;
    paused?: (ms: number, why: string) => void;
  },
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  let open = lines;
  let pause = FIRST_PAUSE_MS;
  while (open.length > 0) {
    const attempt = await send(open, to);
    const items =
      attempt.status === undefined || TRANSIENT.has(attempt.status) ? undefined : itemsOf(attempt);
    const before = open.length;
    if (items !== undefined) {
      open = sort(open, items, verdicts);
      if (open.length === 0) break;
    }
    if (patience.giveUp()) throw new Error('stopped');
    pause = open.length < before ? FIRST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS);
    const wait = attempt.retryAfterMs ?? pause;
    patience.paused?.(wait, attempt.body?.code ?? attempt.failure ?? String(attempt.status));
    await patience.sleep(wait);
  }
  return verdicts;
}

interface Attempt {
  status?: number;
  body?: Answer;
  retryAfterMs?: number;
  failure?: string;
}

async function send(lines: Line[], to: Destination): Promise<Attempt> {
  try {
    const answer = await fetch(`${to.baseUrl}/v1/core/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${to.key}`, 'content-type': 'application/json' },
      body: `{"events":[${lines.map(({ text }) => text).join(',')}]}`,
      signal: AbortSignal.timeout(30_000),
    });
    const seconds = Number(answer.headers.get('retry-after'));
    return {
      status: answer.status,
      body: (await answer.json()) as Answer,
      ...(seconds > 0 ? { retryAfterMs: Math.min(seconds * 1000, 60_000) } : {}),
    };
  } catch (error) {
    return { failure: (error as Error).message };
  }
}

/** The per-item verdicts of a 202, or of a 400 in which every item was refused. */
function itemsOf({ status, body }: Attempt): Item[] {
  if (status === 202 && body?.results !== undefined) return body.results;
  if (status === 400 && body?.errors?.[0]?.index !== undefined) return body.errors;
  throw new Error(`the platform answered ${status} ${body?.code ?? ''}: ${body?.detail ?? 'no detail'}`);
}

function sort(lines: Line[], items: Item[], verdicts: Verdict[]): Line[] {
  const again: Line[] = [];
  for (const { index, code, detail, retryable } of items) {
    const line = lines[index];
    if (line === undefined) throw new Error(`the platform answered for item ${index}, which was not sent`);
    if (code === undefined) verdicts.push({ line });
    else if (retryable === true) again.push(line);
    else verdicts.push({ line, refusal: { code, detail: detail ?? '' } });
  }
  return again;
}
