import { SMTPServer } from 'smtp-server';

/** A mail that was handed over, or begun to be. */
export interface HandOff {
  address: string;
  /** When its content began to arrive, in milliseconds of this process's clock. */
  at: number;
  /** Of its `X-Correlation-Id` header; undefined where the content broke off before it. */
  correlationId: string | undefined;
  /** Whether the content arrived whole. */
  complete: boolean;
}

/** An SMTP server that notes the instant of each DATA and is slow by chance, so that hand-offs are in flight. */
export class Sink {
  readonly handOffs: HandOff[] = [];
  private readonly server: SMTPServer;

  /** `defers` says whether a recipient is answered 450 this time. */
  constructor(
    slowestMs: number,
    random: () => number = Math.random,
    defers: (address: string) => boolean = () => false,
  ) {
    this.server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      logger: false,
      onRcptTo: ({ address }, _session, done) => {
        const later = defers(address.toLowerCase())
          ? Object.assign(new Error('Try again later'), { responseCode: 450 })
          : null;
        setTimeout(() => done(later), random() * slowestMs);
      },
      onData: (stream, session, done) => {
        const noted = session.envelope.rcptTo.map(({ address }): HandOff => ({
          address: address.toLowerCase(),
          at: performance.now(),
          correlationId: undefined,
          complete: false,
        }));
        this.handOffs.push(...noted);
        let head = '';
        stream.on('data', (chunk: Buffer) => {
          if (head.length < 16_384) head += chunk.toString('latin1');
        });
        stream.on('end', () => {
          const correlationId = /^x-correlation-id:\s*(\S+)/im.exec(head)?.[1];
          for (const mail of noted) Object.assign(mail, { correlationId, complete: true });
          setTimeout(done, random() * slowestMs);
        });
      },
    });
    // A client that was killed in the middle of a conversation is part of what this server is for.
    this.server.on('error', () => undefined);
  }

  /** Resolves with the port. */
  listen(): Promise<number> {
    return new Promise((resolve) => {
      const listener = this.server.listen(0, '127.0.0.1', () => {
        const address = listener.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(resolve));
  }
}
