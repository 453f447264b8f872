import type { Client, FieldProblem } from '@customer-platform/client';
import type { Line } from './lines.ts';

interface Verdict {
  line: Line;
  /** Undefined where the event was accepted. */
  refusal?: { code: string; detail: string };
}

/** What was said of one event of a batch. */
interface Item {
  index?: number;
  event_id?: string;
  code?: string;
  detail?: string;
  retryable?: boolean;
}

/** A batch may hold 500 events and 500 KiB (contract §6); some room is left for brackets and commas. */
export const MOST_EVENTS = 500;
export const MOST_BYTES = 480 * 1024;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Sends one batch until each of its events has a verdict; every event carries its key, so repeating is safe. What the
 * client repeats are whole requests, here are repeated only the items that may yet pass.
 *
 * @throws Error where the platform says something that no retry changes (401, 403, a body it does not understand).
 */
export async function settleBatch(
  lines: Line[],
  client: Client,
  patience: {
    signal?: AbortSignal;
    sleep: (ms: number) => Promise<void>;
    paused?: (ms: number, why: string) => void;
  },
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  let open = lines;
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    const { items, retryAfterMs } = await send(open, client);
    const before = open.length;
    open = sort(open, items, verdicts);
    if (open.length === 0) return verdicts;
    if (patience.signal?.aborted === true) throw new Error('stopped');
    pause = open.length < before ? FIRST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS);
    const wait = retryAfterMs ?? pause;
    patience.paused?.(wait, 'rate_limited');
    await patience.sleep(wait);
  }
}

/** The verdicts of a 202, or of a 400 in which every item was refused. */
async function send(
  lines: Line[],
  client: Client,
): Promise<{ items: readonly Item[]; retryAfterMs?: number }> {
  // The lines' own text: it may hold numbers that JavaScript cannot.
  const bodyText = `{"events":[${lines.map(({ text }) => text).join(',')}]}`;
  try {
    const { data, headers } = await client.POST('/v1/core/batch', { bodyText });
    const seconds = Number(headers.get('retry-after'));
    return { items: data.results, ...(seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}) };
  } catch (error) {
    const items = refusedItems(error);
    if (items) return { items };
    throw error;
  }
}

function refusedItems(error: unknown): readonly FieldProblem[] | undefined {
  const { status, errors } = error as { status?: number; errors?: readonly FieldProblem[] };
  return status === 400 && errors?.[0]?.index !== undefined ? errors : undefined;
}

function sort(lines: Line[], items: readonly Item[], verdicts: Verdict[]): Line[] {
  const again: Line[] = [];
  for (const { index, code, detail, retryable } of items) {
    const line = lines[index ?? -1];
    if (line === undefined)
      throw new Error(`the platform answered for item ${String(index)}, which was not sent`);
    if (code === undefined) verdicts.push({ line });
    else if (retryable === true) again.push(line);
    else verdicts.push({ line, refusal: { code, detail: detail ?? '' } });
  }
  return again;
}
