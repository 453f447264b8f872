import { connect, type Socket } from 'node:net';
import { createTransport } from 'nodemailer';

const BOUNDARY = 'a-boundary';

/** A report on a delivery (RFC 3464), as a mail server writes it. */
export function aDeliveryReport(
  {
    action = 'failed',
    status = '5.1.1',
    diagnostic = '',
    explanation = 'I am sorry to inform you that your message could not be delivered.',
  }: { action?: string; status?: string; diagnostic?: string; explanation?: string } = {},
  original = 'Subject: Hello\r\n',
): string {
  return [
    'From: Mail Delivery System <MAILER-DAEMON@mx.example>',
    'To: whom it concerns',
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=delivery-status; boundary="${BOUNDARY}"`,
    '',
    `--${BOUNDARY}`,
    'Content-Type: text/plain',
    '',
    explanation,
    `--${BOUNDARY}`,
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example',
    'Arrival-Date: Thu, 26 Nov 2026 12:00:00 +0000',
    '',
    'Final-Recipient: rfc822; somebody@example.com',
    `Action: ${action}`,
    ...(status ? [`Status: ${status}`] : []),
    ...(diagnostic ? [`Diagnostic-Code: ${diagnostic}`] : []),
    `--${BOUNDARY}`,
    'Content-Type: message/rfc822',
    '',
    original,
    `--${BOUNDARY}--`,
    '',
  ].join('\r\n');
}

/** What a feedback loop sends (RFC 5965). */
export function aFeedbackReport(
  returnPath: string,
  type = 'abuse',
  within: 'field' | 'mail' = 'field',
): string {
  return [
    'From: feedback@mailbox.example',
    'Subject: FW: Hello',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=feedback-report; boundary="${BOUNDARY}"`,
    '',
    `--${BOUNDARY}`,
    'Content-Type: text/plain',
    '',
    'This is an email abuse report.',
    `--${BOUNDARY}`,
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: SomeGenerator/1.0',
    'Version: 1',
    ...(within === 'field' ? [`Original-Mail-From: <${returnPath}>`] : []),
    `--${BOUNDARY}`,
    'Content-Type: message/rfc822',
    '',
    ...(within === 'mail' ? [`Return-Path: <${returnPath}>`] : []),
    'From: <news@shop.example>',
    'Subject: Hello',
    '',
    'Hello.',
    `--${BOUNDARY}--`,
    '',
  ].join('\r\n');
}

/** What a mailbox provider sends on that writes no RFC 5965: the mail alone, with fields of its own. */
export function aForwardedComplaint(fields: string): string {
  return [
    'From: staff@mailbox.example',
    'Subject: complaint about message from 192.0.2.7',
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${BOUNDARY}"`,
    '',
    `--${BOUNDARY}`,
    'Content-Type: message/rfc822',
    '',
    fields,
    'From: <news@shop.example>',
    'Subject: Hello',
    '',
    'Hello.',
    `--${BOUNDARY}--`,
    '',
  ].join('\r\n');
}

/** Delivers as mail servers do. @throws what the server refuses, with its `responseCode` */
export async function deliver(port: number, to: string, raw: string | Buffer, from = ''): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true });
  try {
    await transport.sendMail({ envelope: { from, to: [to] }, raw });
  } finally {
    transport.close();
  }
}

/** A connection by hand: gives all that the server has said when it has ended it, or says what is waited for. */
export class RawConnection {
  private readonly socket: Socket;
  private said = '';
  readonly ended: Promise<string>;

  constructor(port: number, localAddress = '127.0.0.1') {
    this.socket = connect({ port, host: '127.0.0.1', localAddress });
    this.socket.setEncoding('utf8');
    this.socket.on('data', (text: string) => (this.said += text));
    this.socket.on('error', () => undefined);
    this.ended = new Promise((resolve) => this.socket.once('close', () => resolve(this.said)));
  }

  /** Until the server has said it, or has ended. */
  async hears(text: string): Promise<string> {
    while (!this.said.includes(text) && !this.socket.closed)
      await Promise.race([new Promise((resolve) => this.socket.once('data', resolve)), this.ended]);
    return this.said;
  }

  write(text: string): void {
    this.socket.write(text);
  }

  close(): void {
    this.socket.destroy();
  }
}
