import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Batcher, log } from '@customer-platform/http';
import type { Admin } from 'kafkajs';
import { within } from '../within.js';
import { KafkaClient } from './kafka.client.js';

/** A connection whose broker is silent for so long is given up. */
const ANSWER_WITHIN_MS = 600;
/** Nobody asked for so long: no connection is held for nothing. */
const KEPT_MS = 60_000;

/** Where partitions end: the offset that the next record gets. */
export type Ends = ReadonlyMap<number, bigint>;

/**
 * Asks where topics end, by one connection that is kept: to connect takes several times as long as the question. Whoever
 * asks while a question is on its way waits for the next one, which they all share: what they are told is of an instant
 * after their call.
 */
@Injectable()
export class TopicEnds implements OnModuleDestroy {
  private kept: Admin | undefined;
  private idle: NodeJS.Timeout | undefined;
  private readonly questions = new Batcher<string, Ends>({
    enough: Infinity,
    run: (topics) => this.answers(topics),
  });

  constructor(private readonly client: KafkaClient) {}

  /**
   * The ends of those partitions of a topic for which a leader answers, at an instant after the call.
   * @throws the client's error when no broker answers
   */
  of(topic: string): Promise<Ends> {
    return this.questions.add(topic);
  }

  onModuleDestroy(): void {
    this.leave();
  }

  private async answers(topics: readonly string[]): Promise<Ends[]> {
    clearTimeout(this.idle);
    const ends = new Map<string, Ends>();
    for (const topic of new Set(topics)) ends.set(topic, await this.ask(this.client.named(topic)));
    this.idle = setTimeout(() => this.leave(), KEPT_MS).unref();
    return topics.map((topic) => ends.get(topic) ?? new Map());
  }

  private async ask(name: string): Promise<Ends> {
    const known = this.kept && (await this.askKept(this.kept, name));
    if (known) return known;
    this.leave();
    const admin = (this.kept = this.client.admin());
    try {
      const asked = admin.connect().then(() => admin.fetchTopicOffsets(name));
      return toEnds(await within(ANSWER_WITHIN_MS, asked));
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  /** @returns undefined where the connection is of no use any more, or does not know of all partitions there are now */
  private async askKept(admin: Admin, name: string): Promise<Ends | undefined> {
    try {
      const [offsets, { topics }] = await within(
        ANSWER_WITHIN_MS,
        Promise.all([admin.fetchTopicOffsets(name), admin.fetchTopicMetadata({ topics: [name] })]),
      );
      const partitions = topics.find((topic) => topic.name === name)?.partitions.length;
      return offsets.length === partitions ? toEnds(offsets) : undefined;
    } catch (error) {
      log.debug({ err: error }, 'A connection that was kept does not answer any more');
      return undefined;
    }
  }

  /** Nobody waits for a broker to hear of it. */
  private leave(): void {
    clearTimeout(this.idle);
    const admin = this.kept;
    this.kept = undefined;
    admin?.disconnect().catch((error: unknown) => {
      log.debug({ err: error }, 'An administration client did not disconnect');
    });
  }
}

function toEnds(offsets: Awaited<ReturnType<Admin['fetchTopicOffsets']>>): Ends {
  return new Map(offsets.map(({ partition, high }) => [partition, BigInt(high)]));
}
