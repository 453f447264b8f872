import { Injectable } from '@nestjs/common';
import type { KafkaClient } from '../kafka/kafka.client.js';
import type { Topics } from '../kafka/topics.js';
import { SupervisedConsumer, type Consumption } from './supervised.consumer.js';

/** All consumers of this process, for who measures them. */
@Injectable()
export class Consumers {
  /** Those started so far. */
  readonly all: SupervisedConsumer[] = [];

  /** Starts one and keeps it in view. */
  start(client: KafkaClient, topics: Topics, consumption: Consumption): SupervisedConsumer {
    const consumer = new SupervisedConsumer(client, topics, consumption);
    this.all.push(consumer);
    consumer.start();
    return consumer;
  }
}
