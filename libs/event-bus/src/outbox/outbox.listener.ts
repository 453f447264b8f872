import { setTimeout as after } from 'node:timers/promises';
import { log } from '@customer-platform/http';
import { Client } from 'pg';
import { pause } from '../within.js';
import { OUTBOX_CHANNEL } from './outbox.signal.js';

const RECONNECT_MS = 1_000;
const ASK_EVERY_MS = 10_000;
const ANSWER_MS = 5_000;
/** A server that hangs does not end the connection. */
const END_MS = 1_000;

/** Hears the notifications of processes without a relay, on a connection of its own that is renewed when it breaks. */
export class OutboxListener {
  private stopping = false;
  private client: Client | undefined;
  private running: Promise<void> | undefined;
  private lost: (() => void) | undefined;

  constructor(
    private readonly url: string,
    private readonly heard: () => void,
  ) {}

  /** Begins to listen, now or as soon as the database is there. */
  start(): void {
    this.running ??= this.run();
  }

  /** Ends the connection. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.lost?.();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      const client = new Client({
        connectionString: this.url,
        connectionTimeoutMillis: 2_000,
        keepAlive: true,
        query_timeout: ANSWER_MS,
      });
      const lost = new Promise<false>((lose) => {
        const resolve = (): void => lose(false);
        this.lost = resolve;
        client.on('end', resolve);
        client.on('error', (error) => {
          log.debug({ err: error }, 'The connection that listens to the outbox broke');
          resolve();
        });
      });
      try {
        await client.connect();
        client.on('notification', this.heard);
        await client.query(`LISTEN ${OUTBOX_CHANNEL}`);
        this.heard(); // whatever was appended while nobody listened
        while (await Promise.race([lost, after(ASK_EVERY_MS, true, { ref: false })])) {
          // A server that went without a word (a failover by address) closes nothing.
          await client.query('SELECT 1');
        }
      } catch (error) {
        log.debug({ err: error }, 'The outbox cannot be listened to yet');
      }
      const ended = client.end().catch((error: unknown) => {
        log.debug({ err: error }, 'The connection that listened to the outbox did not end cleanly');
      });
      await Promise.race([ended, after(END_MS, undefined, { ref: false })]);
      await this.waitForNextTry();
    }
  }

  private async waitForNextTry(): Promise<void> {
    for (let waited = 0; waited < RECONNECT_MS && !this.stopping; waited += 100) await pause(100);
  }
}
