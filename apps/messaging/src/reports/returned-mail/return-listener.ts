import type { Socket } from 'node:net';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { networkOf } from '@customer-platform/config';
import { log } from '@customer-platform/http';
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerDataStream,
  type SMTPServerSession,
} from 'smtp-server';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { ReturnedMails } from './returned-mails.service.js';

/** What strangers may take of this process. */
@Injectable()
export class ReturnLimits {
  /** Where all are taken, the eldest of the network that has most gives way to who has fewer. */
  connections = 100;
  /** Of an IPv4 address, of an IPv6 /64. */
  readonly connectionsOfANetwork = 10;
  /** Of a connection, whatever it does meanwhile: who sends a byte a minute is not idle, and ends all the same. */
  connectionMs = 120_000;
  idleMs = 30_000;
  readonly mailsOfAConnection = 50;
  /** What is longer is refused; of what is shorter the beginning is kept. */
  readonly mailBytes = 10 * 1_024 * 1_024;
  readonly keptBytes = 256 * 1_024;
}

/**
 * The mailbox that what cannot be delivered returns to (messaging.md §10): an SMTP server of its own port, which takes
 * mail for return paths that are signed and for nobody else, sends none, and answers only when a report is on record.
 * Where RETURN_SMTP_PORT is set and PROCESS_ROLE is not api.
 */
@Injectable()
export class ReturnListener implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: SMTPServer | undefined;
  private readonly byNetwork = new Map<string, number>();
  /** By the id of their session, the eldest first. */
  private readonly open = new Map<
    string,
    { readonly network: string; readonly place: string; mails: number }
  >();
  private readonly sockets = new Map<string, Socket>();

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly mails: ReturnedMails,
    private readonly limits: ReturnLimits,
  ) {}

  /** Undefined where it does not listen. */
  get port(): number | undefined {
    const address = this.server?.server.address();
    return typeof address === 'object' && address ? address.port : undefined;
  }

  async onApplicationBootstrap(): Promise<void> {
    const { returnSmtp, returnHost, worker } = this.config;
    if (!returnSmtp || returnHost === undefined || !worker) return;
    const server = this.build(returnHost);
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(returnSmtp.port, returnSmtp.host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    server.on('error', (error) => log.debug({ err: error }, 'A connection of returned mail broke'));
    log.info({ port: this.port }, 'Returned mail is taken');
  }

  async onApplicationShutdown(): Promise<void> {
    const { server } = this;
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  private build(name: string): SMTPServer {
    const { limits } = this;
    const server = new SMTPServer({
      name,
      banner: 'returned mail only',
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      size: limits.mailBytes,
      // Beside those that are counted there are those that have just come, and those that give way.
      maxClients: limits.connections * 2,
      socketTimeout: limits.idleMs,
      closeTimeout: 1_000,
      onConnect: (session, done) => done(this.admit(session)),
      onClose: (session) => this.release(session),
      onMailFrom: (_address, session, done) => done(this.countMail(session)),
      onRcptTo: (address, session, done) => done(this.recipient(address, session)),
      onData: (stream, session, done) => {
        void this.receive(stream, session).then(
          (refusal) => done(refusal),
          (error: unknown) => {
            log.error({ err: error }, 'A returned mail could not be taken; its server will try again');
            done(refusal(451, '4.3.0 Try again later'));
          },
        );
      },
    });
    server.server.on('connection', (socket) => {
      const end = setTimeout(() => socket.destroy(), limits.connectionMs);
      end.unref();
      const place = placeOf(networkOf(socket.remoteAddress ?? '', 32), socket.remotePort);
      this.sockets.set(place, socket);
      socket.once('close', () => {
        clearTimeout(end);
        if (this.sockets.get(place) === socket) this.sockets.delete(place);
      });
    });
    return server;
  }

  private admit({ id, remoteAddress, remotePort }: SMTPServerSession): Error | null {
    const network = networkOf(remoteAddress, 32);
    const open = this.byNetwork.get(network) ?? 0;
    const isFull = this.open.size >= this.limits.connections;
    if (open >= this.limits.connectionsOfANetwork || (isFull && !this.makeRoom(open)))
      return refusal(421, '4.7.0 Too many connections');
    this.byNetwork.set(network, open + 1);
    this.open.set(id, { network, place: placeOf(network, remotePort), mails: 0 });
    return null;
  }

  /** Ends the eldest connection of a network that has most, if that is more than so many: its server tries again. */
  private makeRoom(ofNewcomer: number): boolean {
    const most = Math.max(...this.byNetwork.values());
    if (most <= ofNewcomer) return false;
    for (const [id, { network, place }] of this.open) {
      if (this.byNetwork.get(network) !== most) continue;
      this.sockets.get(place)?.destroy();
      this.forget(id);
      return true;
    }
    return false;
  }

  private release({ id }: SMTPServerSession): void {
    this.forget(id);
  }

  private forget(id: string): void {
    const known = this.open.get(id);
    if (!known) return;
    this.open.delete(id);
    const left = (this.byNetwork.get(known.network) ?? 1) - 1;
    if (left > 0) this.byNetwork.set(known.network, left);
    else this.byNetwork.delete(known.network);
  }

  private countMail({ id }: SMTPServerSession): Error | null {
    const known = this.open.get(id);
    if (!known) return null;
    known.mails += 1;
    return known.mails > this.limits.mailsOfAConnection ? refusal(421, '4.7.0 Too many mails') : null;
  }

  /** A report of delivery is of one mail, and each of ours has a return path of its own. */
  private recipient({ address }: SMTPServerAddress, { envelope }: SMTPServerSession): Error | null {
    if (envelope.rcptTo.length > 0) return refusal(452, '4.5.3 One recipient at a time');
    return this.mails.knows(localPartOf(address)) ? null : refusal(550, '5.1.1 No such return path');
  }

  private async receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Error | null> {
    const [recipient] = session.envelope.rcptTo;
    const kept: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (bytes < this.limits.keptBytes) kept.push(chunk);
      bytes += chunk.length;
    }
    if (stream.sizeExceeded) return refusal(552, '5.3.4 Too large');
    if (recipient) await this.mails.take(localPartOf(recipient.address), Buffer.concat(kept));
    return null;
  }
}

/** Where a connection comes from, as its socket and its session tell alike. */
function placeOf(network: string, port: number | undefined): string {
  return `${network} ${String(port)}`;
}

/** `postmaster` alone has no domain (RFC 5321 §4.1.1.3). */
function localPartOf(address: string): string {
  return address.includes('@') ? address.slice(0, address.lastIndexOf('@')) : address;
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
