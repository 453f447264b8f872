import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';

/** A mail as it arrived. */
interface ArrivedMail {
  readonly from: string;
  readonly to: string;
  readonly at: number;
  readonly raw: Buffer;
}

/** How a recipient is treated: an SMTP reply, at RCPT or after the content, as long as it is not undefined. */
interface Treatment {
  readonly code: number;
  readonly text: string;
  readonly after?: 'rcpt' | 'content';
}

/** A real SMTP server for tests. It notes each DATA the moment it begins and can be slow, refuse, or go away. */
export class MailSink {
  readonly mails: ArrivedMail[] = [];
  /** Mails whose content came and was not taken. */
  readonly refused: ArrivedMail[] = [];
  /** When the content of a mail to this address began, in order. */
  readonly begun: { to: string; at: number }[] = [];
  treat: (address: string) => Treatment | undefined = () => undefined;
  /** How a sender is treated, at MAIL. */
  treatSender: (address: string) => Treatment | undefined = () => undefined;
  delay: (stage: 'rcpt' | 'content') => number = () => 0;
  /** Content is read at once and answered only after this. */
  answersAfter: Promise<unknown> = Promise.resolve();
  private server: SMTPServer;
  private port = 0;

  constructor(private readonly options: ConstructorParameters<typeof SMTPServer>[0] = {}) {
    this.server = this.build();
  }

  /** On a free port, or again on the one it had. */
  async start(): Promise<number> {
    this.server = this.build();
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.server.address() as AddressInfo).port;
    return this.port;
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.server.close(resolve));
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  to(address: string): ArrivedMail[] {
    return this.mails.filter((mail) => mail.to === address);
  }

  async parsed(address: string): Promise<Email[]> {
    return Promise.all(this.to(address).map(({ raw }) => PostalMime.parse(raw)));
  }

  private build(): SMTPServer {
    const server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      logger: false,
      closeTimeout: 50,
      onMailFrom: ({ address }, _session, done) => {
        const refusal = this.treatSender(address);
        done(refusal ? smtpError(refusal) : null);
      },
      onRcptTo: ({ address }, _session, done) => {
        const treatment = this.treat(address);
        const refusal = treatment?.after === 'content' ? undefined : treatment;
        setTimeout(() => done(refusal ? smtpError(refusal) : null), this.delay('rcpt'));
      },
      onData: (stream, session, done) => {
        const to = recipientOf(session);
        this.begun.push({ to, at: performance.now() });
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const treatment = this.treat(to);
          const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
          const mail = { from, to, at: performance.now(), raw: Buffer.concat(chunks) };
          (treatment ? this.refused : this.mails).push(mail);
          if (treatment) return done(smtpError(treatment));
          void this.answersAfter.then(() => setTimeout(() => done(null), this.delay('content')));
        });
      },
      ...this.options,
    });
    server.on('error', () => undefined);
    return server;
  }
}

function recipientOf(session: SMTPServerSession): string {
  return session.envelope.rcptTo.map(({ address }) => address).join(',');
}

function smtpError({ code, text }: Treatment): Error {
  return Object.assign(new Error(text), { responseCode: code });
}
