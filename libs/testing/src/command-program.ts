/**
 * Runs commands of the operators' program `COMMAND_PROGRAM`, one after another in this one process: most of what a command
 * takes goes into loading its program. Each is a POST of its words, a list in JSON, to `COMMAND_PORT`. It is answered once
 * nothing of the command keeps this process any more: a process of its own would end then, or never.
 */
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const { COMMAND_PROGRAM = '', COMMAND_PORT = '0' } = process.env;
const ENDS_WITHIN_MS = 60_000;

const callers = new Set<Socket>();
let runs = 0;
let turn: Promise<unknown> = Promise.resolve();
/** The handles that keep this process while it waits for a command. */
let atRest: readonly string[] = [];

const server = createServer((request, response) => {
  const answer = async (): Promise<unknown> => {
    if (request.method !== 'POST') return 'ready';
    const words = JSON.parse(await text(request)) as string[];
    const ended = turn.then(() => run(words));
    turn = Promise.allSettled([ended]);
    return ended;
  };
  answer().then(
    (told) => response.end(JSON.stringify(told)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
server.on('connection', (socket) => {
  callers.add(socket);
  socket.once('close', () => callers.delete(socket));
});
process.once('SIGTERM', () => process.exit());
// Standard output and error are made by the first look at them.
for (const stream of [process.stdout, process.stderr]) stream.uncork();
server.listen(Number(COMMAND_PORT), '127.0.0.1', () => {
  atRest = process.getActiveResourcesInfo();
});

async function run(words: readonly string[]): Promise<{ status: number; output: string }> {
  const [out, error] = [listenTo(process.stdout), listenTo(process.stderr)];
  process.argv = [process.execPath, COMMAND_PROGRAM, ...words];
  process.exitCode = 0;
  runs += 1;
  try {
    await import(`${pathToFileURL(COMMAND_PROGRAM).href}?run=${String(runs)}`);
    await untilNothingIsLeft(words);
    const status = Number(process.exitCode);
    return { status, output: status === 0 ? out.heard() : out.heard() || error.heard() };
  } finally {
    process.exitCode = 0;
    for (const each of [out, error]) each.end();
  }
}

function listenTo(stream: NodeJS.WriteStream): { heard: () => string; end: () => void } {
  let heard = '';
  stream.write = (chunk: string | Uint8Array) => {
    heard += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  };
  return { heard: () => heard, end: () => void Reflect.deleteProperty(stream, 'write') };
}

async function untilNothingIsLeft(words: readonly string[]): Promise<void> {
  const giveUpAt = performance.now() + ENDS_WITHIN_MS;
  for (let left = keeping(); left.length > 0; left = keeping()) {
    if (performance.now() > giveUpAt) throw new Error(`${words.join(' ')} leaves open: ${left.join(', ')}`);
    await pause(2, undefined, { ref: false });
  }
}

/** Lists what keeps this process beside what does at rest, and its callers. */
function keeping(): string[] {
  const left = process.getActiveResourcesInfo();
  for (const own of [...atRest, ...Array.from(callers, () => 'TCPSocketWrap')]) {
    const at = left.indexOf(own);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}
