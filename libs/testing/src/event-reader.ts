/** A server-sent event as it was received. */
interface ReceivedEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** Reads an answer of server-sent events (HTML, §9.2) while it comes. */
export class EventReader {
  readonly events: ReceivedEvent[] = [];
  /** Lines that were only a sign of life. */
  comments = 0;
  /** What a reader would come back with. */
  lastEventId = '';
  ended = false;
  /** What broke it, where it did not come to its end. */
  cutOff: unknown;
  private rest = '';
  private readonly decoder = new TextDecoder();
  private reading: Promise<void> | undefined;

  constructor(
    /** Held, too, while nobody reads it: what is collected is cancelled. */
    private readonly response: Response,
    private readonly abort: () => void,
  ) {}

  /** Begins to read; until then the answer waits on its way. */
  start(): this {
    this.reading ??= this.read();
    return this;
  }

  /** Goes away, as a reader whose connection breaks. */
  async close(): Promise<void> {
    this.abort();
    await this.start().reading;
  }

  private async read(): Promise<void> {
    try {
      const body = this.response.body as unknown as AsyncIterable<Uint8Array>;
      for await (const chunk of body) this.take(chunk);
    } catch (error) {
      this.cutOff = error;
    } finally {
      this.ended = true;
    }
  }

  private take(chunk: Uint8Array): void {
    const blocks = (this.rest + this.decoder.decode(chunk, { stream: true })).split('\n\n');
    this.rest = blocks.pop() ?? '';
    for (const block of blocks) this.takeBlock(block);
  }

  private takeBlock(block: string): void {
    let id: string | undefined;
    let event: string | undefined;
    const data: string[] = [];
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon);
      const value = line.slice(colon + 1).replace(/^ /, '');
      if (line.startsWith(':')) this.comments += 1;
      else if (name === 'id') id = value;
      else if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
    }
    if (id !== undefined) this.lastEventId = id;
    if (data.length > 0) this.events.push({ id, event, data: data.join('\n') });
  }
}
