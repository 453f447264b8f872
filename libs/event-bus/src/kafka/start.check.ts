import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ConfigError } from '@customer-platform/config';
import { topicOfModule } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import { EVENT_BUS_OPTIONS, type EventBusOptions } from '../event-bus.options.js';
import { within } from '../within.js';
import { KafkaClient } from './kafka.client.js';
import { refusalOfBroker } from './security.js';
import { mustBeOurs } from './topic.settings.js';
import { Topics } from './topics.js';

const LOOK_MS = 5_000;

/**
 * Refuses the start with one sentence where the brokers will not let this process in, or, in production, would lose an
 * acknowledged record with one machine or are another installation's. A broker that is away does not: what is found out later is refused as it is
 * used, with the same sentence in the log.
 */
@Injectable()
export class StartCheck implements OnModuleInit {
  constructor(
    private readonly client: KafkaClient,
    private readonly topics: Topics,
    @Inject(EVENT_BUS_OPTIONS) private readonly options: EventBusOptions,
  ) {}

  /** Before anything of the app begins. @throws ConfigError, WeakReplication and OtherInstallation among them */
  async onModuleInit(): Promise<void> {
    if (!mustBeOurs() && !this.client.secured) return;
    try {
      await within(LOOK_MS, this.topics.ensure([topicOfModule(this.options.module)]));
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      const refusal = refusalOfBroker(error);
      if (refusal) throw new ConfigError(refusal, { cause: error });
      log.warn({ err: error }, 'Kafka does not answer yet; what it must be is checked when it does');
    }
  }
}
