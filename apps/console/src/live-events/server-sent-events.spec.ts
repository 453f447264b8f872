import { serverSentEvents, type ServerSentEvent } from './server-sent-events.ts';

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.slice(at, at + size));
}

async function read(text: string, size = 7): Promise<ServerSentEvent[]> {
  const read: ServerSentEvent[] = [];
  for await (const each of serverSentEvents(inPieces(text, size))) read.push(each);
  return read;
}

describe('a stream of server-sent events', () => {
  it('is cut into events, whatever pieces it comes in', async () => {
    const text = ': hello\n\nid: 7\nevent: recorded\ndata: {"name":"Peñalolén 🎈"}\n\ndata: a\ndata: b\n\n';
    for (const size of [1, 2, 3, 5, 1_000]) {
      expect(await read(text, size)).toEqual([
        { id: '7', event: 'recorded', data: '{"name":"Peñalolén 🎈"}' },
        { id: '7', event: 'message', data: 'a\nb' },
      ]);
    }
  });

  it('may end its lines in all three ways', async () => {
    for (const size of [1, 4, 100]) {
      expect(await read('data: a\r\n\r\ndata: b\r\rdata: c\n\n', size)).toMatchObject([
        { data: 'a' },
        { data: 'b' },
        { data: 'c' },
      ]);
    }
  });

  it('tells nothing of comments, of events without data and of one that was cut off', async () => {
    expect(await read(': still here\n\nevent: gap\n\ndata: half')).toEqual([]);
  });

  it('is not collected without end', async () => {
    await expect(read('data: ' + 'x'.repeat(1_100_000), 65_536)).rejects.toThrow('does not end');
  });
});
