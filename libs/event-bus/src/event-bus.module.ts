import { Module, type DynamicModule, type INestApplication } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { retentionOf } from '@customer-platform/database';
import { DRAINABLE } from '@customer-platform/http';
import { Consumers } from './consuming/consumers.js';
import { KeptPositions } from './consuming/kept.positions.js';
import { LagWatchdog } from './consuming/lag.watchdog.js';
import { RecordConsumers } from './consuming/record.consumers.js';
import { TopicReader } from './consuming/topic.reader.js';
import { EVENT_BUS_OPTIONS, type EventBusOptions } from './event-bus.options.js';
import { Inbox, OLD_INBOX_ROWS } from './inbox/inbox.js';
import { KafkaClient } from './kafka/kafka.client.js';
import { StartCheck } from './kafka/start.check.js';
import { TopicEnds } from './kafka/topic.ends.js';
import { Topics } from './kafka/topics.js';
import { Outbox } from './outbox/outbox.js';
import { OutboxRelay } from './outbox/outbox.relay.js';
import { OutboxSignal } from './outbox/outbox.signal.js';
import { ParkedEvents } from './parking/parked-events.js';
import { Redelivery } from './parking/redelivery.js';
import { RecordProducer } from './producing/record.producer.js';
import { RecordProofs } from './proof/record-proofs.js';
import { EventReader } from './transport/event.reader.js';
import { KafkaTransport } from './transport/kafka.transport.js';

/**
 * The event bus of an app: `Outbox` to publish, `@OnEvent` (with {@link connectEventBus}) and `Inbox` to consume,
 * `RecordProducer` and `RecordConsumers` for topics that carry no domain events. Needs `DatabaseModule`.
 */
@Module({})
export class EventBusModule {
  static forRoot(options: EventBusOptions): DynamicModule {
    const exported = [
      ...[Outbox, OutboxRelay, Inbox, RecordProducer, RecordConsumers, TopicEnds, Topics, TopicReader],
      ...[KafkaTransport, ParkedEvents, Redelivery],
    ];
    return {
      module: EventBusModule,
      global: true,
      providers: [
        { provide: EVENT_BUS_OPTIONS, useValue: options },
        ...exported,
        Consumers,
        { provide: DRAINABLE, useExisting: Consumers },
        EventReader,
        KafkaClient,
        KeptPositions,
        LagWatchdog,
        OutboxSignal,
        RecordProofs,
        StartCheck,
        retentionOf(OLD_INBOX_ROWS),
      ],
      exports: exported,
    };
  }

  /** What a command needs that writes to topics: `RecordProducer` and `RecordProofs`, nothing that relays or consumes. */
  static forWriting(options: EventBusOptions): DynamicModule {
    return {
      module: EventBusModule,
      providers: [
        { provide: EVENT_BUS_OPTIONS, useValue: options },
        KafkaClient,
        Topics,
        RecordProofs,
        RecordProducer,
      ],
      exports: [RecordProducer, RecordProofs, Topics],
    };
  }

  /** What a command needs that only looks into topics: `TopicReader`, nothing that relays or consumes. */
  static forReading(options: EventBusOptions): DynamicModule {
    return {
      module: EventBusModule,
      providers: [
        { provide: EVENT_BUS_OPTIONS, useValue: { ...options, readsOnly: true } },
        KafkaClient,
        Topics,
        TopicReader,
      ],
      exports: [TopicReader],
    };
  }
}

/**
 * Binds the `@OnEvent` methods of the app's controllers to Kafka and starts consuming, unless the process only serves
 * requests (`PROCESS_ROLE=api`). Returns at once, whether the broker is there or not.
 */
export async function connectEventBus(app: INestApplication): Promise<void> {
  if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
  app.connectMicroservice({ strategy: app.get(KafkaTransport) });
  await app.startAllMicroservices();
}
