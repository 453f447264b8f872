import { Inject, Injectable } from '@nestjs/common';
import { kafkaConfig, readConfig } from '@customer-platform/config';
import {
  Kafka,
  logLevel,
  Partitioners,
  type Admin,
  type Consumer,
  type ICustomPartitioner,
  type Producer,
} from 'kafkajs';
import { EVENT_BUS_OPTIONS, type EventBusOptions } from '../event-bus.options.js';
import { pinoLogCreator } from './kafka.log.js';
import { askLeadersApart } from './leader-answers.js';
import { keepPartitionErrors } from './partition-answers.js';
import { writeRequestsInPlace } from './produce-requests.js';
import { askAnotherWhereTheControllerIsLost } from './lost-controllers.js';
import { longPollWhereNothingComes } from './long-polling.js';
import { repairRequestQueue } from './request-queue.js';
import { kafkaSecurity } from './security.js';

/** Below this the broker refuses a group member (its `group.min.session.timeout.ms`). */
const SESSION_TIMEOUT_MS = 6_000;
/** A partition that nobody led is fetched again so long after somebody does; nothing else tells the client. */
const LEADERS_KNOWN_MS = 10_000;

/** What is enough for a fetch to be answered at once … */
const FETCH_BYTES = 128 * 1024;
/** … and how long it waits for that much. */
const FETCH_WITHIN_MS = 150;

/** kafkajs looks at all partitions of a topic for each record before it finds that the record says its own. */
const asToldOrByKey: ICustomPartitioner = () => {
  const byKey = Partitioners.DefaultPartitioner();
  return (asked) => asked.message.partition ?? byKey(asked);
};

/** Where Kafka is, how topics and groups are named there, and the one place that makes kafkajs clients. */
@Injectable()
export class KafkaClient {
  /** How many partitions a topic is created with. */
  readonly partitions: number;
  /** Whether the brokers are spoken to by TLS or SASL. */
  readonly secured: boolean;
  private readonly prefix: string;
  private readonly kafka: Kafka;

  constructor(@Inject(EVENT_BUS_OPTIONS) options: EventBusOptions) {
    const config = readConfig(kafkaConfig);
    repairRequestQueue();
    keepPartitionErrors();
    writeRequestsInPlace();
    askLeadersApart();
    longPollWhereNothingComes();
    askAnotherWhereTheControllerIsLost();
    this.partitions = config.KAFKA_PARTITIONS;
    this.prefix = config.KAFKA_TOPIC_PREFIX;
    const security = kafkaSecurity();
    this.secured = security.ssl !== undefined || security.sasl !== undefined;
    this.kafka = new Kafka({
      ...security,
      clientId: options.module,
      brokers: config.KAFKA_BROKERS,
      connectionTimeout: 1_000,
      requestTimeout: 10_000,
      logLevel: logLevel.WARN,
      logCreator: pinoLogCreator,
      // Reconnecting is ours: kafkajs would sit out its backoff long after the broker is back.
      retry: { initialRetryTime: 50, maxRetryTime: 200, retries: 1 },
    });
  }

  /** The name on the broker of a topic or a group. */
  named(name: string): string {
    return `${this.prefix}${name}`;
  }

  /** What the platform calls a topic that the broker knows by this name. */
  unnamed(name: string): string {
    return name.slice(this.prefix.length);
  }

  /** An idempotent producer with one request in flight: a retry inside kafkajs neither doubles nor reorders. */
  producer(): Producer {
    return this.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: asToldOrByKey,
      retry: { initialRetryTime: 50, maxRetryTime: 200, retries: 3 },
    });
  }

  /** A member of a consumer group that never restarts itself. */
  consumer(group: string): Consumer {
    return this.kafka.consumer({
      groupId: this.named(group),
      sessionTimeout: SESSION_TIMEOUT_MS,
      heartbeatInterval: SESSION_TIMEOUT_MS / 4,
      rebalanceTimeout: 20_000,
      metadataMaxAge: LEADERS_KNOWN_MS,
      // A fetch gathers what comes within a fifth of a second, or enough: each costs the broker, the consumer and its
      // database the more, the fewer messages it brings.
      minBytes: FETCH_BYTES,
      maxWaitTimeInMs: FETCH_WITHIN_MS,
      allowAutoTopicCreation: false,
      retry: {
        initialRetryTime: 100,
        maxRetryTime: 500,
        retries: 2,
        restartOnFailure: () => Promise.resolve(false),
      },
    });
  }

  /** A client for topics and offsets. */
  admin(): Admin {
    return this.kafka.admin({ retry: { initialRetryTime: 50, maxRetryTime: 500, retries: 3 } });
  }
}
