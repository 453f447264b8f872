import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket as TcpSocket } from 'node:net';
import {
  decode,
  encode,
  streamEncode,
  TRUNCATED_RESPONSE,
  type Answer,
  type DecodedPacket,
} from 'dns-packet';

/** How a name server can fail: by an RCODE, by saying nothing at all, or by what is no DNS. */
type DnsFault = 'SERVFAIL' | 'REFUSED' | 'hang' | 'garbage';

const RCODES = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
/** RFC 1035 §4.2.1: a longer answer by UDP is truncated, and asked for again by TCP. */
const UDP_BYTES = 512;
const PIECE = 255;

/**
 * A recursive name server on this machine, by UDP and TCP on one port, that knows the TXT records and aliases it is told
 * of. It follows aliases as such servers do: its answer holds the chain.
 */
export class DnsServer {
  private readonly records = new Map<string, string[]>();
  private readonly aliases = new Map<string, string>();
  private readonly faults = new Map<string, DnsFault>();
  /** For all names that have no fault of their own. */
  fault: DnsFault | undefined;
  /** Names by transport, in the order they were asked. */
  readonly asked: { name: string; by: 'udp' | 'tcp' }[] = [];
  private readonly sockets = new Set<TcpSocket>();
  private readonly held: (() => void)[] = [];
  private holding = false;

  private constructor(
    private readonly udp: Socket,
    private readonly tcp: Server,
  ) {}

  /** Listens on a port, a free one unless given. */
  static async start(wanted = 0): Promise<DnsServer> {
    const tcp = createServer();
    tcp.listen(wanted, '127.0.0.1');
    await once(tcp, 'listening');
    const udp = createSocket('udp4');
    const { port } = tcp.address() as AddressInfo;
    udp.bind(port, '127.0.0.1');
    await once(udp, 'listening');
    const server = new DnsServer(udp, tcp);
    server.serve();
    return server;
  }

  /** As `SENDER_DNS_SERVERS` takes it. */
  get address(): string {
    return `127.0.0.1:${String(this.udp.address().port)}`;
  }

  /** One more TXT record of a name. */
  publish({ name, value }: { name: string; value: string }): void {
    const key = name.toLowerCase();
    this.records.set(key, [...(this.records.get(key) ?? []), value]);
  }

  withdraw({ name }: { name: string }): void {
    this.records.delete(name.toLowerCase());
  }

  alias(name: string, target: string): void {
    this.aliases.set(name.toLowerCase(), target.toLowerCase());
  }

  fail(name: string, fault: DnsFault | undefined): void {
    if (fault === undefined) this.faults.delete(name.toLowerCase());
    else this.faults.set(name.toLowerCase(), fault);
  }

  /** Answers wait from now on, as what they would be now. */
  hold(): void {
    this.holding = true;
  }

  /** Answers wait no longer; those that do are given by a call of what is returned. */
  takeHeld(): () => void {
    this.holding = false;
    const waiting = this.held.splice(0);
    return () => waiting.forEach((answer) => answer());
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.udp.close(resolve));
    await new Promise<void>((resolve) => this.tcp.close(() => resolve()));
  }

  private serve(): void {
    this.udp.on('message', (message, { address, port }) => {
      this.answer(decode(message), 'udp', (bytes) => this.udp.send(bytes, port, address));
    });
    this.tcp.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.sockets.delete(socket));
      let pending = Buffer.alloc(0);
      socket.on('data', (chunk) => {
        pending = Buffer.concat([pending, chunk]);
        while (pending.length > 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
          const end = 2 + pending.readUInt16BE(0);
          this.answer(decode(pending.subarray(2, end)), 'tcp', (bytes) => socket.write(bytes));
          pending = pending.subarray(end);
        }
      });
    });
  }

  private answer(query: DecodedPacket, by: 'udp' | 'tcp', send: (bytes: Buffer) => void): void {
    const name = query.questions?.[0]?.name.toLowerCase() ?? '';
    this.asked.push({ name, by });
    const fault = this.faults.get(name) ?? this.fault;
    if (fault === 'hang') return;
    const bytes = this.bytesOf(query, name, by, fault);
    if (this.holding) this.held.push(() => send(bytes));
    else send(bytes);
  }

  private bytesOf(
    { id = 0, questions = [] }: DecodedPacket,
    name: string,
    by: 'udp' | 'tcp',
    fault: Exclude<DnsFault, 'hang'> | undefined,
  ): Buffer {
    const common = { type: 'response', id, questions } as const;
    if (fault === 'garbage')
      return Buffer.concat([encode({ ...common, flags: 0 }).subarray(0, 12), Buffer.alloc(7, 0xff)]);
    const { answers, exists } = this.found(name);
    const flags = fault ? RCODES[fault] : exists ? 0 : RCODES.NXDOMAIN;
    const packet = { ...common, flags, answers: fault ? [] : answers };
    if (by === 'tcp') return streamEncode(packet);
    const whole = encode(packet);
    return whole.length > UDP_BYTES ? encode({ ...common, flags: flags | TRUNCATED_RESPONSE }) : whole;
  }

  private found(asked: string): { answers: Answer[]; exists: boolean } {
    const answers: Answer[] = [];
    let name = asked;
    // A server that finds a loop of aliases gives up; what it has found so far is its answer.
    for (let target = this.aliases.get(name); target && answers.length < 8; target = this.aliases.get(name)) {
      answers.push({ type: 'CNAME', name, ttl: 1, data: target });
      name = target;
    }
    const texts = this.records.get(name);
    for (const text of texts ?? []) answers.push({ type: 'TXT', name, ttl: 1, data: inPieces(text) });
    return { answers, exists: texts !== undefined || answers.length > 0 };
  }
}

function inPieces(text: string): string[] {
  const count = Math.max(1, Math.ceil(text.length / PIECE));
  return Array.from({ length: count }, (_, at) => text.slice(at * PIECE, (at + 1) * PIECE));
}
