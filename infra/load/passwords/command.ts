/**
 * `npm run load -- passwords [--rate N] [--duration S]`: what setting passwords costs everybody else. First `track` at
 * 100 requests/s and a light read of identity at 20/s alone, then the same while N invitations a second are accepted,
 * each with a new password; the tokens are read from the mail catcher, as people read them.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { request, type Platform } from '@customer-platform/client/platform.ts';

/** What is loaded, and how. */
export interface PasswordsLoad {
  platform: Platform;
  /** Acceptances a second. */
  rate: number;
  /** Seconds of each of the two parts. */
  duration: number;
}

const TRACKS_A_SECOND = 100;
const READS_A_SECOND = 20;
/** As many as are invited and read at once. */
const TOGETHER = 20;
/** Whom people join: nobody gains rights in one organization twenty times a second. */
const ORGANIZATIONS = 10;

/** How calls of one kind were answered. */
interface Figures {
  milliseconds: number[];
  refused: number;
}

/** Runs it and prints the figures of each call, without and with passwords. */
export async function runPasswords(
  { platform, rate, duration }: PasswordsLoad,
  say: (line: string) => void,
): Promise<void> {
  const count = rate * duration;
  say(`passwords: ${count} people are invited …`);
  const tokens = await invite(platform, count);
  say(`without passwords, for ${duration} s`);
  printFigures(await both(platform, duration, []), say);
  say(`while ${rate} passwords a second are set, for ${duration} s`);
  const figures = await both(platform, duration, tokens);
  printFigures(figures, say);
  if (Object.values(figures).some(({ refused }) => refused > 0)) process.exitCode = 1;
}

async function invite(platform: Platform, count: number): Promise<string[]> {
  const keys = await Promise.all(Array.from({ length: ORGANIZATIONS }, () => found(platform)));
  const tokens: string[] = [];
  while (tokens.length < count) {
    const some = Array.from({ length: Math.min(TOGETHER, count - tokens.length) }, (_, at) =>
      inviteOne(platform, keys[at % ORGANIZATIONS] ?? ''),
    );
    tokens.push(...(await Promise.all(some)));
  }
  return tokens;
}

/** An organization below the demo's, by its key. */
async function found(platform: Platform): Promise<string> {
  const name = `load-${randomUUID()}`;
  const body = { name, slug: name, issue_api_key: true };
  const answer = await request(platform, 'POST', '/v1/identity/organizations', body);
  return (answer.body as { api_key: { key: string } }).api_key.key;
}

async function inviteOne(platform: Platform, key: string): Promise<string> {
  const email = `load-${randomUUID()}@example.com`;
  const invited = await call(`${platform.base_url}/v1/identity/invitations`, key, { email });
  if (!invited.ok) throw new Error(`An invitation was answered ${invited.status}.`);
  const read = async <T>(path: string): Promise<T> =>
    (await fetch(platform.mail_url + path)).json() as Promise<T>;
  const { data } = await read<{ data: { id: string }[] }>(`/messages?to=${email}&limit=1&wait=30`);
  const { text } = await read<{ text: string }>(`/messages/${data[0]?.id ?? ''}`);
  const token = /#token=(\S+)/.exec(text)?.[1];
  if (token === undefined) throw new Error('An invitation’s mail has not come within 30 s.');
  return token;
}

async function both(
  platform: Platform,
  duration: number,
  tokens: readonly string[],
): Promise<Record<string, Figures>> {
  const { base_url: base, ingestion_key: ingestion, admin_key: admin } = platform;
  const track = (): Promise<Response> => call(`${base}/v1/core/track`, ingestion, anEvent());
  const read = (): Promise<Response> => call(`${base}/v1/identity/permissions?limit=1`, admin);
  const accept = (at: number): Promise<Response> => {
    const password = `load ${randomUUID()}`;
    const body = { token: tokens[at], name: 'Somebody New', password };
    return call(`${base}/v1/identity/invitations/accept`, undefined, body);
  };
  const [tracks, reads, acceptances] = await Promise.all([
    paced(TRACKS_A_SECOND * duration, duration, track),
    paced(READS_A_SECOND * duration, duration, read),
    paced(tokens.length, duration, accept),
  ]);
  return {
    track: tracks,
    'read of identity': reads,
    ...(tokens.length > 0 ? { acceptance: acceptances } : {}),
  };
}

function anEvent(): object {
  return {
    event: 'load_passwords',
    external_id: 'load-passwords',
    idempotency_key: randomUUID(),
    occurred_at: new Date().toISOString(),
  };
}

function call(url: string, key: string | undefined, body?: object): Promise<Response> {
  return fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Calls begin when it is their time, however late others are: what is slow cannot slow down what comes after it. */
async function paced(
  count: number,
  seconds: number,
  begin: (at: number) => Promise<Response>,
): Promise<Figures> {
  const figures: Figures = { milliseconds: [], refused: 0 };
  const start = performance.now();
  const calls: Promise<void>[] = [];
  for (let at = 0; at < count; at += 1) {
    const due = start + (at * seconds * 1_000) / count;
    const early = due - performance.now();
    if (early > 1) await pause(early);
    calls.push(
      begin(at).then(async (response) => {
        await response.arrayBuffer();
        figures.milliseconds.push(performance.now() - due);
        if (!response.ok) figures.refused += 1;
      }),
    );
  }
  await Promise.all(calls);
  return figures;
}

function printFigures(figures: Record<string, Figures>, say: (line: string) => void): void {
  for (const [name, { milliseconds, refused }] of Object.entries(figures)) {
    const sorted = milliseconds.toSorted((a, b) => a - b);
    const at = (part: number): string => `${(sorted[Math.floor(sorted.length * part)] ?? NaN).toFixed(1)} ms`;
    say(
      `  ${name.padEnd(18)}${String(sorted.length).padStart(6)} calls, p50 ${at(0.5)}, p95 ${at(0.95)}, ` +
        `p99 ${at(0.99)}, ${refused} not answered 2xx`,
    );
  }
}
