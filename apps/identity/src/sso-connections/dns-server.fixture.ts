import { createSocket, type Socket } from 'node:dgram';
import { decode, encode, type TxtAnswer } from 'dns-packet';

/** A name server on this machine that knows the TXT records it is told of. */
export class TestDns {
  private readonly records = new Map<string, string[]>();
  /** Domains about which it knows nothing to say. */
  readonly silent = new Set<string>();
  /** The names that it was asked about. */
  readonly asked: string[] = [];
  /** Answers that wait, while it hangs. */
  private held: (() => void)[] | undefined;

  private constructor(private readonly socket: Socket) {}

  static async start(): Promise<TestDns> {
    const socket = createSocket('udp4');
    const server = new TestDns(socket);
    socket.on('message', (message, { address, port }) => {
      const answer = (): void => socket.send(server.answer(message), port, address);
      server.note(message);
      if (server.held) server.held.push(answer);
      else answer();
    });
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return server;
  }

  /** As `SSO_DNS_SERVERS` takes it. */
  get address(): string {
    return `127.0.0.1:${String(this.socket.address().port)}`;
  }

  publish({ name, value }: { name: string; value: string }): void {
    this.records.set(name, [...(this.records.get(name) ?? []), value]);
  }

  withdraw({ name }: { name: string }): void {
    this.records.delete(name);
  }

  /** Answers nothing from now on. @returns what ends that, and answers all */
  hold(): () => void {
    const held: (() => void)[] = [];
    this.held = held;
    return () => {
      this.held = undefined;
      for (const answer of held) answer();
    };
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.socket.close(resolve));
  }

  private note(message: Buffer): void {
    this.asked.push(decode(message).questions?.[0]?.name ?? '');
  }

  private answer(message: Buffer): Buffer {
    const { id, questions = [] } = decode(message);
    const name = questions[0]?.name ?? '';
    const found = this.records.get(name.toLowerCase());
    const answers = (found ?? []).map((data): TxtAnswer => ({
      type: 'TXT',
      name,
      ttl: 1,
      data: split(data),
    }));
    const SERVER_FAILURE = 2;
    const NAME_ERROR = 3;
    const isSilent = [...this.silent].some((domain) => name.endsWith(domain));
    const flags = isSilent ? SERVER_FAILURE : found ? 0 : NAME_ERROR;
    return encode({ type: 'response', id, flags, questions, answers: isSilent ? [] : answers });
  }
}

/** In pieces, as a longer text comes. */
function split(text: string): string[] {
  return [text.slice(0, 20), text.slice(20)];
}
