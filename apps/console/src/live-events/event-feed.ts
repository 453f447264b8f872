import { NetworkError, ProblemError, type Client } from '@customer-platform/client';
import { entryOfEvent, entryOfLetter, type FailedEvent, type StoredEvent } from './entry.ts';
import type { LiveBuffer } from './live-buffer.ts';
import { serverSentEvents, type ServerSentEvent } from './server-sent-events.ts';

/** What of the stream is wanted; the API's own filters. */
export interface FeedFilters {
  event?: string | undefined;
  external_id?: string | undefined;
  contact_id?: string | undefined;
}

interface FeedSource {
  api: Client;
  token: (why?: { renew?: boolean }) => Promise<string>;
  filters: FeedFilters;
}

const PATH = '/v1/core/events/stream';
const POLLED_EVERY_MS = 2_000;
const PAGE = 100;
/** What came in two seconds at 250 events/s; beyond that a poll says that it missed some. */
const PAGES_AT_ONCE = 5;
/** The platform sends a comment every 15 s: a connection that is silent for longer leads nowhere. */
const SILENCE_MS = 40_000;
/** A stream that was open for so long and then ends in good order is asked for again, and nobody need know. */
const LASTED_MS = 10_000;
/** Within so long: a platform that is updated ends the streams of all pages at once. */
const AGAIN_WITHIN_MS = 1_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;
/** All streams of the organization are taken: in a minute one may be free. */
const NO_STREAM_FREE_MS = 60_000;

/**
 * Puts the organization's events into `buffer` as they are stored, until `signal`. By the stream where the platform has
 * one, else by its list; a connection that breaks is made again, and goes on where it was. Ends early where the platform
 * refuses, which the buffer is told.
 */
export async function followEvents(
  source: FeedSource,
  buffer: LiveBuffer,
  signal: AbortSignal,
): Promise<void> {
  const reading: Reading = { position: undefined, failures: 0 };
  let pollFor: number | undefined;
  // eslint-disable-next-line house/no-endless-turns -- a page follows events for as long as it is open; leaving it aborts
  while (!signal.aborted) {
    try {
      // Streams end after two minutes or so, as do those of a platform that is updated.
      // eslint-disable-next-line house/no-endless-turns -- the same: it throws once the page is left
      if (pollFor === undefined) while (await readStream(source, buffer, reading, signal)) continue;
      else await pollEvents(source, buffer, signal, pollFor);
      pollFor = undefined;
    } catch (error) {
      if (signal.aborted) return;
      pollFor = pollInsteadFor(error);
      if (pollFor !== undefined) continue;
      if (isFinal(error)) return buffer.become({ failure: error });
      await waitForNext(error, buffer, reading, signal);
    }
  }
}

/** Where a reader of the stream stands. */
interface Reading {
  /** The last event's place, to go on after it. */
  position: string | undefined;
  failures: number;
}

/**
 * Until the platform ends it in good order. @returns whether to go on
 * @throws where it broke, or ended hardly begun
 */
async function readStream(
  source: FeedSource,
  buffer: LiveBuffer,
  reading: Reading,
  signal: AbortSignal,
): Promise<boolean> {
  const silence = new AbortController();
  const ended = AbortSignal.any([signal, silence.signal]);
  const response = await openStream(source, reading.position, ended);
  // What was stored before the stream began is in the list, and what is in both is shown once.
  if (reading.position === undefined) await catchUp(source, buffer, ended);
  buffer.become({ connection: 'streamed' });
  const began = performance.now();
  const reached = (id: string): void => {
    reading.position = id;
  };
  for await (const event of serverSentEvents(watched(response.body, silence), reached)) {
    reading.failures = 0;
    await take(event, source, buffer, ended);
  }
  if (performance.now() - began >= LASTED_MS) {
    await pause(Math.random() * AGAIN_WITHIN_MS, signal);
    return true;
  }
  throw new NetworkError({ method: 'GET', path: PATH }, 'unreachable');
}

async function openStream(
  { token, filters }: FeedSource,
  position: string | undefined,
  signal: AbortSignal,
): Promise<Response & { body: ReadableStream<Uint8Array> }> {
  const said = Object.entries(filters).filter((each): each is [string, string] => each[1] !== undefined);
  const ask = async (renew: boolean): Promise<Response> =>
    fetch(`${PATH}?${new URLSearchParams(said).toString()}`, {
      signal,
      credentials: 'omit',
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${await token({ renew })}`,
        ...(position === undefined ? {} : { 'last-event-id': position }),
      },
    });
  let response = await ask(false);
  if (response.status === 401) response = await ask(true);
  const { status, headers, body } = response;
  if (!response.ok || body === null) {
    const text = await response.text();
    throw new ProblemError({ method: 'GET', path: PATH }, { status, headers, text }, Date.now());
  }
  return response as Response & { body: ReadableStream<Uint8Array> };
}

/** Ends the connection where nothing comes for too long, not even a comment. */
async function* watched(
  body: ReadableStream<Uint8Array>,
  silence: AbortController,
): AsyncGenerator<Uint8Array> {
  const tooLong = (): void => silence.abort(new Error('The stream fell silent'));
  let timer = setTimeout(tooLong, SILENCE_MS);
  try {
    for await (const chunk of body) {
      clearTimeout(timer);
      timer = setTimeout(tooLong, SILENCE_MS);
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
  }
}

async function take(
  { event, data }: ServerSentEvent,
  source: FeedSource,
  buffer: LiveBuffer,
  signal: AbortSignal,
): Promise<void> {
  // What a newer platform may add besides is left alone.
  if (event === 'recorded') buffer.add([entryOfEvent(JSON.parse(data) as StoredEvent)]);
  else if (event === 'dead_lettered')
    buffer.add([entryOfLetter(JSON.parse(data) as FailedEvent, new Date())]);
  else if (event === 'dropped') buffer.become({ missed: true });
  else if (event === 'gap') await catchUp(source, buffer, signal);
}

/** Asks the list again and again; for so long, in ms. */
async function pollEvents(
  source: FeedSource,
  buffer: LiveBuffer,
  signal: AbortSignal,
  duration: number,
): Promise<void> {
  const end = performance.now() + duration;
  while (performance.now() < end) {
    await catchUp(source, buffer, signal);
    buffer.become({ connection: 'polled' });
    await pause(POLLED_EVERY_MS, signal);
    if (signal.aborted) return;
  }
}

/** Reads the list from its newest item back to what is known already. */
async function catchUp(source: FeedSource, buffer: LiveBuffer, signal: AbortSignal): Promise<void> {
  const query = { ...source.filters, sort: '-received_at', limit: PAGE };
  const first = buffer.isEmpty;
  let pages = 0;
  for await (const { data, page } of source.api.pages('/v1/core/events', { params: { query }, signal })) {
    const entries = data.map(entryOfEvent);
    const known = entries.some(({ key }) => buffer.has(key));
    buffer.add(entries);
    // A list that was empty shows one page; what was before is another view.
    if (known || first || page.next_cursor === null) return;
    if ((pages += 1) === PAGES_AT_ONCE) return buffer.become({ missed: true });
  }
}

/** For how long to ask the list instead: a platform without the stream for ever. */
function pollInsteadFor(error: unknown): number | undefined {
  if (!(error instanceof ProblemError) || error.path !== PATH) return undefined;
  if (error.status === 404) return Infinity;
  return error.status === 429 ? NO_STREAM_FREE_MS : undefined;
}

/** Refused, and asking again changes nothing. */
function isFinal(error: unknown): boolean {
  return error instanceof ProblemError && error.status < 500 && error.status !== 429;
}

async function waitForNext(
  error: unknown,
  buffer: LiveBuffer,
  reading: Reading,
  signal: AbortSignal,
): Promise<void> {
  buffer.become({ connection: 'lost' });
  const asked = error instanceof ProblemError ? (error.retryAfter ?? 0) * 1_000 : 0;
  const wait = Math.min(FIRST_WAIT_MS * 2 ** reading.failures, LONGEST_WAIT_MS);
  reading.failures += 1;
  // Thousands of pages would else come back at the same moment.
  await pause(Math.max(asked, wait * (0.5 + Math.random() / 2)), signal);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
