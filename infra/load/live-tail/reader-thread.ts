/** Reads streams of events in a thread of its own, so that reading holds up nobody who measures. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';

/** What the thread is asked for. */
export type Asked =
  { readonly open: readonly Listener[] } | { readonly close: true } | { readonly look: true };

/** A stream to be opened, and the key that may. */
export interface Listener {
  readonly url: string;
  readonly key: string;
}

/** What the streams that were opened last have told so far. */
export interface Told {
  readonly recorded: number;
  /** Counted by core for readers who took too little. */
  readonly dropped: number;
  readonly gaps: number;
  readonly bytes: number;
  /** Streams that ended before they were closed; their readers came back. */
  readonly ended: number;
}

/** A place that the last reader left comes free a moment after it. */
const AGAIN_AFTER_MS = 200;
const TRIES = 50;

const nothing = (): { -readonly [name in keyof Told]: Told[name] } => ({
  recorded: 0,
  dropped: 0,
  gaps: 0,
  bytes: 0,
  ended: 0,
});

let told = nothing();
const open = new Set<ClientRequest>();
let closing = false;

function take(block: string): void {
  const event = /^event: (\w+)$/m.exec(block)?.[1];
  if (event === 'recorded') told.recorded += 1;
  else if (event === 'gap') told.gaps += 1;
  else if (event === 'dropped') told.dropped += Number(/^data: \{"count":(\d+)\}$/m.exec(block)?.[1]);
}

/** Reads it to its end, and comes back then as `EventSource` does. */
function follow(listener: Listener, asked: ClientRequest, response: IncomingMessage): void {
  let rest = '';
  let lastId = '';
  open.add(asked);
  response.setEncoding('latin1');
  response.on('data', (chunk: string) => {
    told.bytes += chunk.length;
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      take(block);
      lastId = /^id: (.+)$/m.exec(block)?.[1] ?? lastId;
    }
  });
  response.on('error', () => undefined);
  asked.once('close', () => {
    open.delete(asked);
    if (closing) return;
    told.ended += 1;
    void openOne(listener, lastId);
  });
}

async function openOne(listener: Listener, lastId?: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${listener.key}`,
    ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
  };
  let status: number | undefined;
  for (let tries = 0; tries < TRIES && !closing; tries += 1) {
    const asked = request(listener.url, { agent: false, headers });
    const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
    asked.end();
    const [response] = await answered;
    asked.on('error', () => undefined);
    status = response.statusCode;
    if (status === 200 && !closing) return follow(listener, asked, response);
    response.destroy();
    await pause(AGAIN_AFTER_MS);
  }
  if (!closing) throw new Error(`A stream was answered ${String(status)}.`);
}

async function answer(asked: Asked): Promise<Told> {
  if ('open' in asked) {
    told = nothing();
    closing = false;
    for (const listener of asked.open) await openOne(listener);
  }
  if ('close' in asked) {
    closing = true;
    const closed = [...open].map((each) => new Promise((done) => each.once('close', done)));
    for (const each of open) each.destroy();
    await Promise.all(closed);
  }
  return told;
}

parentPort?.on('message', (asked: Asked) => {
  answer(asked).then(
    (is) => parentPort?.postMessage(is),
    (error: unknown) => {
      throw error;
    },
  );
});
