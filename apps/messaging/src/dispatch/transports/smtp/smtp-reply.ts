/** One reply of an SMTP server (RFC 5321 §4.2), possibly of several lines. */
export interface SmtpReply {
  readonly code: number;
  readonly lines: readonly string[];
  /** RFC 3463 status at the beginning of the text, when there is one. */
  readonly enhanced: string | undefined;
}

/** A server that does not speak SMTP, or says more than it may. */
export class SmtpSyntaxError extends Error {
  constructor() {
    super('the server does not answer as SMTP does');
    this.name = 'SmtpSyntaxError';
  }
}

const MAX_REPLY = 64 * 1024;
const LINE = /^(\d{3})(?:([ -])(.*))?$/;

/** Cuts a stream of bytes into replies. */
export class SmtpReplyReader {
  private buffered = '';
  private lines: string[] = [];

  /** Adds bytes. @throws SmtpSyntaxError */
  read(chunk: Buffer): SmtpReply[] {
    this.buffered += chunk.toString('latin1');
    const replies: SmtpReply[] = [];
    for (let end = this.buffered.indexOf('\n'); end >= 0; end = this.buffered.indexOf('\n')) {
      const reply = this.readLine(this.buffered.slice(0, end).replace(/\r$/, ''));
      this.buffered = this.buffered.slice(end + 1);
      if (reply) replies.push(reply);
    }
    if (this.buffered.length > MAX_REPLY) throw new SmtpSyntaxError();
    return replies;
  }

  /** Forgets what came before TLS: a reply injected in plain text must not count as the server's. */
  reset(): void {
    this.buffered = '';
    this.lines = [];
  }

  private readLine(line: string): SmtpReply | undefined {
    const [, code, mark, text] = LINE.exec(line) ?? [];
    if (code === undefined || this.lines.length > 500) throw new SmtpSyntaxError();
    this.lines.push(text ?? '');
    if (mark === '-') return undefined;
    const lines = this.lines;
    this.lines = [];
    return {
      code: Number(code),
      lines,
      enhanced: /^([245]\.\d{1,3}\.\d{1,3})\b/.exec(lines.at(-1) ?? '')?.[1],
    };
  }
}
