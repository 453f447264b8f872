import { log } from '@customer-platform/http';
import type { Producer, RecordMetadata, TopicMessages } from 'kafkajs';
import { SendTimeout, within } from '../within.js';

/** What the broker said of each partition, or why it could not be asked. */
export type Delivery = { readonly answers: readonly RecordMetadata[] } | { readonly error: unknown };

/** Once one leader has answered, the others have so long: those who wait for the healthy one must not. */
const LAGGARD_MS = 250;

/**
 * One kafkajs producer after another. A producer of which a send failed, even for one partition, or was given up, is
 * thrown away: kafkajs takes the sequence numbers of a failed batch back, or counts on, and the broker, had it written
 * the first or never seen it, would acknowledge the next one as a duplicate or refuse it for good. A new producer has a
 * new id and starts clean.
 */
export class ProducerLine {
  private current: Promise<Producer> | undefined;
  private closed = false;

  constructor(private readonly create: () => Producer) {}

  /** Resolves when a producer is connected; throws what connecting threw. */
  async connect(): Promise<void> {
    await this.producer();
  }

  /**
   * Sends each of these requests with `acks=-1`, all at once, and resolves when all are answered: each with what the
   * broker said of its partitions, or what kafkajs threw, or a `SendTimeout`; whether that was written is not known.
   * @throws what connecting threw
   */
  async send(requests: readonly TopicMessages[][], timeoutMs: number): Promise<Delivery[]> {
    const producer = await within(timeoutMs, this.producer());
    const sent = requests.map((topicMessages) => producer.sendBatch({ acks: -1, topicMessages }));
    const answered = (sending: Promise<RecordMetadata[]>, ms: number): Promise<Delivery> =>
      within(ms, sending).then(
        (answers) => ({ answers }),
        (error: unknown) => ({ error }),
      );
    const [only] = sent;
    const deliveries =
      only && sent.length === 1
        ? [await answered(only, timeoutMs)]
        : await settled(sent, timeoutMs, answered);
    if (deliveries.some(isFlawed)) this.discard(producer);
    return deliveries;
  }

  /** Disconnects; what is in flight is waited for, a short time. */
  async close(): Promise<void> {
    this.closed = true;
    const { current } = this;
    this.current = undefined;
    if (!current) return;
    try {
      const producer = await current;
      await within(2_000, producer.disconnect());
    } catch (error) {
      sayNotDisconnected(error);
    }
  }

  private producer(): Promise<Producer> {
    if (this.closed) return Promise.reject(new Error('The producer is closed'));
    if (!this.current) {
      const connecting = this.connectNew();
      this.current = connecting;
      connecting.catch(() => {
        if (this.current === connecting) this.current = undefined;
      });
    }
    return this.current;
  }

  private async connectNew(): Promise<Producer> {
    const producer = this.create();
    try {
      await producer.connect();
      return producer;
    } catch (error) {
      producer.disconnect().catch(sayNotDisconnected);
      throw error;
    }
  }

  private discard(producer: Producer): void {
    this.current = undefined;
    producer.disconnect().catch(sayNotDisconnected);
  }
}

/** Waits for all, and for those that lag behind the first that landed a moment only. */
async function settled(
  sent: readonly Promise<RecordMetadata[]>[],
  timeoutMs: number,
  answered: (sending: Promise<RecordMetadata[]>, ms: number) => Promise<Delivery>,
): Promise<Delivery[]> {
  const all = sent.map((sending) => answered(sending, timeoutMs));
  const timer = Promise.withResolvers<Delivery>();
  let laggards: NodeJS.Timeout | undefined;
  void Promise.any(sent).then(
    () => {
      laggards = setTimeout(() => timer.resolve({ error: new SendTimeout(LAGGARD_MS) }), LAGGARD_MS);
    },
    () => undefined,
  );
  try {
    return await Promise.all(all.map((delivery) => Promise.race([delivery, timer.promise])));
  } finally {
    clearTimeout(laggards);
  }
}

function isFlawed(delivery: Delivery): boolean {
  return 'error' in delivery || delivery.answers.some(({ errorCode }) => errorCode !== 0);
}

function sayNotDisconnected(error: unknown): void {
  log.debug({ err: error }, 'A Kafka producer did not disconnect cleanly');
}
