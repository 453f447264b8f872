import { connect, type Socket } from 'node:net';

/** A client that says where it comes from, and what it has heard so far. */
export interface Caller {
  readonly socket: Socket;
  heard: string;
}

/** Begins a request to a gateway that believes callers about their addresses. */
export function callTo(url: string, head: string, address: string, body: string | Buffer): Caller {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const caller: Caller = { socket, heard: '' };
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => (caller.heard += chunk.toString('latin1')));
  socket.write(`${head} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n`);
  socket.write(body);
  return caller;
}

/** The rest of a head, and a body of which so many bytes come and others are promised. */
export function unfinished(bytes: number, of = bytes + 1): Buffer {
  return Buffer.concat([Buffer.from(`Content-Length: ${of}\r\n\r\n`), Buffer.alloc(bytes, 'a')]);
}

/** Resolves once it holds. */
export async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('It did not happen within 10 s');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
