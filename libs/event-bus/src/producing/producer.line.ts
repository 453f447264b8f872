import { log } from '@customer-platform/http';
import type { Producer, TopicMessages } from 'kafkajs';
import { within } from '../within.js';

/**
 * One kafkajs producer after another. A producer whose send failed, or was given up, is thrown away: kafkajs takes
 * the sequence numbers of a failed batch back and gives them to the next one, which the broker, had it written the
 * first, would acknowledge as a duplicate without writing it. A new producer has a new id and starts clean.
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
   * Sends with `acks=-1` and resolves when the broker has acknowledged all.
   * @throws what kafkajs threw, or a `SendTimeout` after `timeoutMs`; whether it was written is then not known
   */
  async send(topicMessages: TopicMessages[], timeoutMs: number): Promise<void> {
    const producer = await within(timeoutMs, this.producer());
    try {
      await within(timeoutMs, producer.sendBatch({ acks: -1, topicMessages }));
    } catch (error) {
      this.discard(producer);
      throw error;
    }
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

function sayNotDisconnected(error: unknown): void {
  log.debug({ err: error }, 'A Kafka producer did not disconnect cleanly');
}
