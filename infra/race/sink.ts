import { SMTPServer } from 'smtp-server';

/** When the content of a mail to an address began to arrive, in milliseconds of this process's clock. */
export interface HandOff {
  address: string;
  at: number;
}

/** An SMTP server that notes the instant of each DATA and is slow by chance, so that hand-offs are in flight. */
export class Sink {
  readonly handOffs: HandOff[] = [];
  private readonly server: SMTPServer;

  constructor(slowestMs: number, random: () => number = Math.random) {
    this.server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      logger: false,
      onRcptTo: (_address, _session, done) => void setTimeout(done, random() * slowestMs),
      onData: (stream, session, done) => {
        const at = performance.now();
        for (const { address } of session.envelope.rcptTo)
          this.handOffs.push({ address: address.toLowerCase(), at });
        stream.resume();
        stream.on('end', () => setTimeout(done, random() * slowestMs));
      },
    });
  }

  /** Resolves with the port. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.on('error', reject);
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
