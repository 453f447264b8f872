import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  anOrganization,
  startTestProcess,
  testDatabase,
  TestRegistry,
  type Caller,
  type TestDatabase,
  type TestProcess,
} from '@customer-platform/testing';
import { MailSink } from '../src/mail-sink.fixture.js';
import { ALL_PERMISSIONS } from '../src/messaging.fixture.js';
import { migrations } from '../src/migrations/index.js';
import { Provider } from '../src/provider.fixture.js';
import { standardHeaders, type ReportBody } from '../src/reports/webhooks/signed-calls.fixture.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const CALLERS = 24;
const AGAIN_AFTER_MS = 50;

/** A send that was asked for, and what it was answered with in the end. */
export interface Promised {
  readonly address: string;
  readonly id: string;
}

/** Messaging as a process, between a mail server and a push provider that can be made to keep their answers back. */
export class CrashWorld {
  private readonly hook: string;
  private letGo = (): void => undefined;

  private constructor(
    readonly process: TestProcess,
    readonly database: TestDatabase,
    readonly mail: MailSink,
    readonly provider: Provider,
    readonly api: Caller,
    private readonly registry: TestRegistry,
    settings: { channels: { push: { webhook_url: string } } },
  ) {
    const { pathname, search } = new URL(settings.channels.push.webhook_url);
    this.hook = `${process.url}${pathname}${search}`;
  }

  static async start(): Promise<CrashWorld> {
    const [mail, provider] = [new MailSink(), new Provider()];
    await Promise.all([mail.start(), provider.start()]);
    const registry = await TestRegistry.start();
    const database = await testDatabase('messaging', migrations);
    const process = await startTestProcess({ module: 'messaging', database, registry });
    const api = process.as(anOrganization().id, ALL_PERMISSIONS);
    const common = { enabled: true, max_per_second: 1_000 };
    const smtp = { provider: 'smtp', from: 'shop@example.com', host: '127.0.0.1', security: 'none' };
    const email = { ...common, ...smtp, port: Number(new URL(mail.url).port) };
    const push = { ...common, provider: 'http', url: provider.url, secret: SECRET };
    const { body } = await api.call<{ channels: { push: { webhook_url: string } } }>(
      'PUT',
      '/v1/messaging/channel-settings',
      { body: { channels: { email, push } } },
    );
    return new CrashWorld(process, database, mail, provider, api, registry, body);
  }

  /** From now on both servers read what they are given and say nothing. */
  keepAnswersBack(): void {
    const released = new Promise<void>((resolve) => (this.letGo = resolve));
    this.mail.answersAfter = released;
    const answer = this.provider.answer;
    this.provider.answer = (request) => released.then(() => answer(request));
  }

  /** And from now on they answer again. */
  answer(): void {
    this.letGo();
    this.mail.answersAfter = Promise.resolve();
  }

  /** Asks for a send to each of these, a few at once, each under one key until it is answered 202. */
  async sendAll(addresses: readonly string[], body: (address: string) => object): Promise<Promised[]> {
    const queue = [...addresses];
    const promised: Promised[] = [];
    const caller = async (): Promise<void> => {
      for (let address = queue.shift(); address !== undefined; address = queue.shift())
        promised.push({ address, id: await this.untilAccepted(body(address), randomUUID()) });
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    return promised;
  }

  /** What the provider says of a message, signed. */
  async report(report: ReportBody): Promise<number> {
    const body = JSON.stringify(report);
    const headers = { 'content-type': 'application/json', ...standardHeaders(SECRET, body) };
    return (await fetch(this.hook, { method: 'POST', body, headers })).status;
  }

  async close(): Promise<void> {
    this.answer();
    await this.process.stop();
    await Promise.all([this.mail.stop(), this.provider.stop(), this.registry.close()]);
    await this.database.drop();
  }

  /** As a caller does whose service dies under it: again with the same key. */
  private async untilAccepted(body: object, key: string): Promise<string> {
    for (;;) {
      const answer = await this.api
        .post<{ send_id: string }>('/v1/messaging/sends', body, { 'idempotency-key': key })
        .catch((error: unknown) => {
          // So `fetch` says that a connection is not there, or there no more; the class is of another realm than jest's.
          if ((error as Error).name === 'TypeError') return undefined;
          throw error;
        });
      if (answer?.status === 202) return answer.body.send_id;
      if (answer && answer.status !== 503) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      await pause(AGAIN_AFTER_MS);
    }
  }
}
