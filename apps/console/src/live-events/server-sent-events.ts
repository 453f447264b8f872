/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  /** What to name to go on after this one; undefined where the stream named none so far. */
  id: string | undefined;
  event: string;
  data: string;
}

/** Beyond it a line is not one of ours, and is not collected any further. */
const LONGEST_LINE = 1_000_000;

/**
 * The events of a stream, by the HTML standard (§9.2.6). `EventSource` does the same but sends no `Authorization`.
 * @param reached told of each id after what it belongs to, of those that name a place and bring nothing, too
 * @throws where a line does not end
 */
export async function* serverSentEvents(
  chunks: AsyncIterable<Uint8Array>,
  reached: (id: string) => void = () => undefined,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  let id: string | undefined;
  let event = '';
  let data: string[] = [];
  for await (const line of linesOf(chunks)) {
    if (line === '') {
      if (data.length > 0) yield { id, event: event || 'message', data: data.join('\n') };
      if (id !== undefined) reached(id);
      event = '';
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
  }
}

/** A line ends with \r\n, \n or \r; what stands after the last end is no line. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > LONGEST_LINE) throw new Error('A line of the stream does not end');
  }
}
