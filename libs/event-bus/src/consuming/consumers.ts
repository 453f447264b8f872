import { Injectable } from '@nestjs/common';
import type { Drainable } from '@customer-platform/http';
import type { KafkaClient } from '../kafka/kafka.client.js';
import type { Topics } from '../kafka/topics.js';
import { SupervisedConsumer, type Consumption } from './supervised.consumer.js';

/** All consumers of this process, for who measures them. */
@Injectable()
export class Consumers implements Drainable {
  /** Those started so far. */
  readonly all: SupervisedConsumer[] = [];

  /** Starts one and keeps it in view. */
  start(client: KafkaClient, topics: Topics, consumption: Consumption): SupervisedConsumer {
    const consumer = new SupervisedConsumer(client, topics, consumption);
    this.all.push(consumer);
    consumer.start();
    return consumer;
  }

  /** Has all finish the chunks in hand and leave their groups: their partitions are others' from then on. */
  async drain(): Promise<void> {
    await Promise.all(this.all.map((consumer) => consumer.stop()));
  }
}
