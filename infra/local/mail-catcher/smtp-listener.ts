import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerDataStream,
  type SMTPServerSession,
} from 'smtp-server';
import type { CaughtMessage } from './caught-message.ts';
import type { Mailbox } from './mailbox.ts';

const LARGEST_MESSAGE = 25 * 2 ** 20;

/** Local parts (a tag after + aside) whose mail meets the fate of the name. */
const REFUSALS: Record<string, { code: number; text: string }> = {
  hardbounce: { code: 550, text: '5.1.1 No such mailbox here' },
  softbounce: { code: 451, text: '4.2.2 Mailbox is full, try again later' },
};

interface SmtpListenerOptions {
  mailbox: Mailbox;
  port: number;
  /** A mail to `complaint@…` has been taken. */
  onComplaint: (message: CaughtMessage) => void;
}

/** Takes every mail without authentication, on the loopback address only. */
export async function listenForMail(options: SmtpListenerOptions): Promise<SMTPServer> {
  const server = new SMTPServer({
    banner: 'Mail catcher: nothing is delivered from here',
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    size: LARGEST_MESSAGE,
    closeTimeout: 1_000,
    logger: false,
    onRcptTo: (address, _session, done) => done(refusalOf(address)),
    onData: (stream, session, done) => collect(options, stream, session, done),
  });
  // A client that breaks its connection is its own affair.
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') throw error;
  });
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  return server;
}

function localPart(address: string): string {
  return address.slice(0, address.lastIndexOf('@')).split('+')[0]?.toLowerCase() ?? '';
}

function refusalOf({ address }: SMTPServerAddress): Error | null {
  const refusal = REFUSALS[localPart(address)];
  return refusal ? Object.assign(new Error(refusal.text), { responseCode: refusal.code }) : null;
}

function collect(
  { mailbox, onComplaint }: SmtpListenerOptions,
  stream: SMTPServerDataStream,
  { envelope }: SMTPServerSession,
  done: (error?: Error | null, message?: string) => void,
): void {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.once('error', done);
  stream.once('end', () => {
    if (stream.sizeExceeded) {
      done(Object.assign(new Error('5.3.4 Message is too big'), { responseCode: 552 }));
      return;
    }
    const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    const to = envelope.rcptTo.map(({ address }) => address);
    const message = mailbox.takeMail(Buffer.concat(chunks), { from, to });
    done(null, `Caught as ${message.id}`);
    if (to.some((address) => localPart(address) === 'complaint')) onComplaint(message);
  });
}
