import { setTimeout as after } from 'node:timers/promises';
import { log, SteadyLoop } from '@customer-platform/http';
import { Client } from 'pg';
import { pause } from '../within.js';
import { OUTBOX_CHANNEL } from './outbox.signal.js';

const RECONNECT_MS = 1_000;
/** A server that hangs does not end the connection. */
const END_MS = 1_000;
const LISTEN = `LISTEN ${OUTBOX_CHANNEL}`;

/** How a connection is known to be heard no more, where its end went without a word (a failover by address). */
interface ListenerPatience {
  readonly askEveryMs: number;
  readonly answerMs: number;
}

/** Hears the notifications of processes without a relay, on a connection of its own that is renewed when it breaks. */
export class OutboxListener {
  private stopping = false;
  private running: Promise<void> | undefined;
  private lost: (() => void) | undefined;
  private readonly loop = new SteadyLoop({ name: 'outbox-listener', takes: null });

  constructor(
    private readonly url: string,
    private readonly heard: () => void,
    private readonly patience: ListenerPatience = { askEveryMs: 10_000, answerMs: 5_000 },
  ) {}

  /** Begins to listen, now or as soon as the database is there. */
  start(): void {
    this.running ??= this.loop.run(
      () => this.stopping,
      () => this.listenOnce(),
    );
  }

  /** Ends the connection. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.lost?.();
    await this.running;
  }

  private async listenOnce(): Promise<void> {
    const client = new Client({
      connectionString: this.url,
      connectionTimeoutMillis: 2_000,
      keepAlive: true,
      query_timeout: this.patience.answerMs,
    });
    const lost = new Promise<void>((resolve) => {
      this.lost = resolve;
      client.on('end', resolve);
      client.on('error', (error) => {
        log.debug({ err: error }, 'The connection that listens to the outbox broke');
        resolve();
      });
    });
    let asking: NodeJS.Timeout | undefined;
    try {
      await client.connect();
      client.on('notification', this.heard);
      await client.query(LISTEN);
      this.heard(); // whatever was appended while nobody listened
      // eslint-disable-next-line house/registered-work -- asks whether its connection still hears
      asking = setInterval(
        () => void client.query(LISTEN).catch(this.lost),
        this.patience.askEveryMs,
      ).unref();
      await lost;
    } catch (error) {
      log.debug({ err: error }, 'The outbox cannot be listened to yet');
    } finally {
      clearInterval(asking);
    }
    const ended = client.end().catch((error: unknown) => {
      log.debug({ err: error }, 'The connection that listened to the outbox did not end cleanly');
    });
    await Promise.race([ended, after(END_MS, undefined, { ref: false })]);
    await this.waitForNextTry();
  }

  private async waitForNextTry(): Promise<void> {
    for (let waited = 0; waited < RECONNECT_MS && !this.stopping; waited += 100) await pause(100);
  }
}
