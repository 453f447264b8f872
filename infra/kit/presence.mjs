/**
 * Who has something on this machine: a file names a process and a port, and that process alone answers there with the
 * word of the file. The number of a process says little, since the system gives it anew; what another program prints
 * about it (`ps`) is cut and spelt as that program likes. No dependency may be imported here.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';

const ANSWERS_WITHIN_MS = 2_000;

let own;

/** What this process is known by; its port is open until it ends, and keeps nothing alive. */
function ownPresence() {
  own ??= new Promise((resolve, reject) => {
    const word = randomBytes(16).toString('hex');
    const server = createServer((socket) => {
      socket.on('error', () => undefined); // whoever asked has gone
      socket.end(word);
    });
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve({ pid: process.pid, port: server.address().port, word }));
    server.unref();
  });
  return own;
}

/**
 * Takes `file` for this process until it ends or gives it back.
 * @returns {{ release: () => void } | { holder: object }} the holder where another process has it
 */
export async function claim(file, name) {
  const content = JSON.stringify({ ...(await ownPresence()), name });
  const mine = `${file}.${process.pid}.new`;
  writeFileSync(mine, content, { mode: 0o600 });
  try {
    while (!linked(mine, file)) {
      const found = read(file);
      if (found === undefined) continue; // given back meanwhile
      if (found === content) return { release: () => undefined };
      const holder = await living(found);
      if (holder) return { holder };
      removeStale(file, found);
    }
  } finally {
    rmSync(mine, { force: true });
  }
  const release = () => {
    process.off('exit', release);
    if (read(file) === content) rmSync(file, { force: true });
  };
  process.once('exit', release);
  return { release };
}

/** The process that has `file`, undefined where it has ended; then the file is removed. */
export async function holderOf(file) {
  const found = read(file);
  if (found === undefined) return undefined;
  const holder = await living(found);
  if (!holder) removeStale(file, found);
  return holder;
}

/** A link appears with its content at once or not at all. */
function linked(mine, file) {
  try {
    linkSync(mine, file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

/** Removes what a process that was killed has left, and nothing else: another may have taken the file meanwhile. */
function removeStale(file, found) {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return; // another start was faster
    throw error;
  }
  if (read(aside) !== found) linked(aside, file);
  rmSync(aside, { force: true });
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** In doubt it lives, and `answers` is false: a stopped process answers nobody, and comes back. */
async function living(content) {
  const holder = parsed(content);
  if (holder === undefined || !isAlive(holder.pid)) return undefined;
  if (holder.port === undefined) return { ...holder, answers: false };
  const word = await wordAt(holder.port);
  if (word === undefined) return { ...holder, answers: false };
  return word === holder.word ? { ...holder, answers: true } : undefined;
}

/** A file of an earlier release holds the number of the process alone. */
function parsed(content) {
  try {
    const value = JSON.parse(content);
    const holder = typeof value === 'number' ? { pid: value } : value;
    return Number.isInteger(holder?.pid) && holder.pid > 1 ? holder : undefined;
  } catch {
    return undefined; // cut short, by a full disk: nobody can be asked
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM'; // another user's
  }
}

/** What is said at a port of this machine: nothing ('') where nobody listens, undefined where no answer comes. */
function wordAt(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: ANSWERS_WITHIN_MS });
    let said = '';
    const settle = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', (chunk) => (said += chunk.toString('latin1')));
    socket.once('end', () => settle(said));
    socket.once('timeout', () => settle(said === '' ? undefined : said));
    socket.once('error', ({ code }) =>
      settle(code === 'ECONNREFUSED' || code === 'ECONNRESET' ? '' : undefined),
    );
  });
}
