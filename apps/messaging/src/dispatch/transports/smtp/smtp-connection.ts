import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Lease } from '../transport.js';
import { SmtpReplyReader, type SmtpReply } from './smtp-reply.js';

/** Where and how to reach a server. `address` is what is connected to, `host` what its certificate must name. */
export interface SmtpServer {
  readonly host: string;
  readonly address: string;
  readonly port: number;
  /** `starttls` is required, never merely tried: a server that does not offer it is not used. */
  readonly security: 'none' | 'starttls' | 'tls';
  readonly username?: string;
  readonly password?: string;
  /** In place of a password (XOAUTH2). */
  readonly accessToken?: string;
  /** The name this side says it has. */
  readonly clientName: string;
  /** For certificates of a private authority, in tests. */
  readonly ca?: string;
}

/** The server refused something that is not about a message: its greeting, TLS, the credentials. */
export class SmtpRefusal extends Error {
  constructor(
    readonly stage: string,
    readonly code: number | undefined,
  ) {
    super(`the SMTP server refused at ${stage}`);
    this.name = 'SmtpRefusal';
  }
}

interface Waiter {
  resolve(reply: SmtpReply): void;
  reject(error: Error): void;
}

/**
 * One connection to an SMTP server (RFC 5321, 2920, 3207, 4954). Written for one property that libraries do not offer:
 * every write asks the lease of its message first, so that not a byte leaves after its end, however long the process
 * was paused; and the caller learns for certain whether the content had begun.
 */
export class SmtpConnection {
  /** Whether a mail transaction was refused half-way: the next one begins with RSET. */
  transactionOpen = false;
  private readonly reader = new SmtpReplyReader();
  private waiters: Waiter[] = [];
  private failure: Error | undefined;
  private extensions = new Set<string>();

  private constructor(private socket: Socket) {
    this.listen(socket);
  }

  /**
   * Connects, greets, encrypts and authenticates as the server's settings say.
   * @throws SmtpRefusal; and what the socket throws when the server cannot be reached within the lease
   */
  static async open(server: SmtpServer, lease: Lease): Promise<SmtpConnection> {
    const socket =
      server.security === 'tls' ? connectTls(tlsOptions(server)) : connectPlain(server.port, server.address);
    const connection = new SmtpConnection(socket.setNoDelay(true).setKeepAlive(true, 30_000));
    const guard = connection.destroyAtEndOf(lease);
    try {
      await connection.greet(server, lease);
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      clearTimeout(guard);
    }
  }

  /** Whether a command can still be written. */
  get alive(): boolean {
    return this.failure === undefined && !this.socket.destroyed;
  }

  /** Whether commands of a transaction may go out together (RFC 2920). */
  get pipelines(): boolean {
    return this.extensions.has('PIPELINING');
  }

  /**
   * Writes commands together and waits for one reply to each, or for the first that refuses: a server that closes the
   * connection after a refusal (421) leaves the others unanswered. @throws when the connection or the lease ends first
   */
  async commands(lines: readonly string[], lease: Lease): Promise<SmtpReply[]> {
    this.write(lines.map((line) => `${line}\r\n`).join(''), lease);
    const pending = lines.map(() => this.nextReply());
    // Those after a refusal may never come; that nobody waits for them any more is no error.
    void Promise.allSettled(pending);
    const replies: SmtpReply[] = [];
    for (const next of pending) {
      const refused = replies.some(({ code }) => code >= 400);
      if (!refused) replies.push(await next);
      else {
        const [late] = await Promise.allSettled([next]);
        if (late.status === 'fulfilled') replies.push(late.value);
      }
    }
    return replies;
  }

  /** Writes the content and its end mark in one go and waits for the verdict. */
  async content(bytes: Buffer, lease: Lease): Promise<SmtpReply> {
    this.write(stuffed(bytes), lease);
    return this.nextReply();
  }

  /** Tears the connection down when the lease ends. The caller clears the timer. */
  destroyAtEndOf(lease: Lease): NodeJS.Timeout {
    return setTimeout(() => this.destroy(new Error('the lease is over')), Math.max(0, lease.remaining()));
  }

  /** Says goodbye without waiting. */
  quit(): void {
    if (this.alive) this.socket.end('QUIT\r\n');
    // A server that does not close is not waited for.
    setTimeout(() => this.destroy(), 1_000).unref();
  }

  destroy(error = new Error('the connection was closed')): void {
    this.fail(error);
    this.socket.destroy();
  }

  private write(data: string | Buffer, lease: Lease): void {
    if (lease.over) this.destroy(new Error('the lease is over'));
    if (this.failure) throw this.failure;
    this.socket.write(data);
  }

  private async greet(server: SmtpServer, lease: Lease): Promise<void> {
    expectCode(await this.nextReply(), 'greeting');
    await this.hello(server, lease);
    if (server.security === 'starttls') {
      if (!this.extensions.has('STARTTLS')) throw new SmtpRefusal('STARTTLS', undefined);
      expectCode(await this.command('STARTTLS', lease), 'STARTTLS');
      await this.encrypt(server);
      await this.hello(server, lease);
    }
    if (server.username !== undefined) await this.authenticate(server, lease);
  }

  private async hello(server: SmtpServer, lease: Lease): Promise<void> {
    const reply = await this.command(`EHLO ${server.clientName}`, lease);
    if (reply.code < 400) {
      this.extensions = new Set(reply.lines.slice(1).map((line) => line.toUpperCase().split(' ')[0] ?? ''));
      if (reply.lines.some((line) => /^AUTH[ =].*\bPLAIN\b/i.test(line))) this.extensions.add('AUTH PLAIN');
      return;
    }
    this.extensions = new Set();
    expectCode(await this.command(`HELO ${server.clientName}`, lease), 'HELO');
  }

  private async authenticate(server: SmtpServer, lease: Lease): Promise<void> {
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const [username, password] = [server.username ?? '', server.password ?? ''];
    if (server.accessToken !== undefined) {
      const response = base64(`user=${username}\u0001auth=Bearer ${server.accessToken}\u0001\u0001`);
      const reply = await this.command(`AUTH XOAUTH2 ${response}`, lease);
      // Why it refuses it says first; the refusal itself comes for an empty answer.
      expectCode(reply.code === 334 ? await this.command('', lease) : reply, 'AUTH');
      return;
    }
    if (this.extensions.has('AUTH PLAIN')) {
      const response = base64(`\u0000${username}\u0000${password}`);
      expectCode(await this.command(`AUTH PLAIN ${response}`, lease), 'AUTH');
      return;
    }
    expectCode(await this.command('AUTH LOGIN', lease), 'AUTH');
    expectCode(await this.command(base64(username), lease), 'AUTH');
    expectCode(await this.command(base64(password), lease), 'AUTH');
  }

  private async encrypt(server: SmtpServer): Promise<void> {
    const plain = this.socket;
    plain.removeAllListeners();
    this.reader.reset();
    const secured = connectTls({ ...tlsOptions(server), socket: plain });
    this.socket = secured;
    this.listen(secured);
    await new Promise<void>((resolve, reject) => {
      secured.once('secureConnect', resolve);
      secured.once('error', reject);
      secured.once('close', () => reject(new Error('closed while encrypting')));
    });
  }

  private async command(line: string, lease: Lease): Promise<SmtpReply> {
    this.write(`${line}\r\n`, lease);
    return this.nextReply();
  }

  private nextReply(): Promise<SmtpReply> {
    if (this.failure) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }));
  }

  private listen(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('error', (error) => this.fail(error));
    socket.on('end', () => this.fail(new Error('the server closed the connection')));
    socket.on('close', () => this.fail(new Error('the connection was closed')));
  }

  private receive(chunk: Buffer): void {
    try {
      for (const reply of this.reader.read(chunk)) {
        const waiter = this.waiters.shift();
        // A reply nobody asked for: the server says goodbye (421) to a connection that lay idle.
        if (waiter) waiter.resolve(reply);
        else this.destroy(new Error(`the server said ${reply.code} unasked`));
      }
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  private fail(error: Error): void {
    this.failure ??= error;
    const waiting = this.waiters;
    this.waiters = [];
    waiting.forEach((waiter) => waiter.reject(error));
  }
}

function tlsOptions(server: SmtpServer) {
  return {
    host: server.address,
    port: server.port,
    servername: server.host,
    minVersion: 'TLSv1.2' as const,
    ...(server.ca === undefined ? {} : { ca: server.ca }),
  };
}

function expectCode(reply: SmtpReply, stage: string): void {
  if (reply.code >= 400) throw new SmtpRefusal(stage, reply.code);
}

/** Transparency (RFC 5321 §4.5.2): a dot at the beginning of a line is doubled; the end mark stands on its own line. */
function stuffed(bytes: Buffer): Buffer {
  const text = bytes
    .toString('latin1')
    .replace(/\r?\n/g, '\r\n')
    .replace(/(^|\n)\./g, '$1..');
  return Buffer.from(text.endsWith('\r\n') ? `${text}.\r\n` : `${text}\r\n.\r\n`, 'latin1');
}
