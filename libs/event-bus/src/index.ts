export {
  type IncomingRecord,
  type RecordConsumer,
  RecordConsumers,
  type RecordConsumption,
} from './consuming/record.consumers.js';
export { type PartitionRange, type Position, type Positions } from './consuming/positions.js';
export { TopicReader } from './consuming/topic.reader.js';
export { isInfrastructureError, mayBeOfItsValues, QueueUnavailable, RecordTooLarge } from './errors.js';
export { connectEventBus, EventBusModule } from './event-bus.module.js';
export { type EventBusOptions } from './event-bus.options.js';
export { Inbox } from './inbox/inbox.js';
export { type Ends, TopicEnds } from './kafka/topic.ends.js';
export { Topics } from './kafka/topics.js';
export { type EventFailure } from './delivery/event-delivery.js';
export { keyHash } from './key-hash.js';
export { OnEvent, type OnEventOptions } from './on-event.decorator.js';
export { type NewDomainEvent, Outbox, type OutboxMessage } from './outbox/outbox.js';
export { outboxAge } from './outbox/outbox.age.js';
export { OutboxSignal } from './outbox/outbox.signal.js';
export { forgetParked } from './parking/forget-parked.js';
export { ParkedEvents, type ParkedEvent, type ParkedFilter } from './parking/parked-events.js';
export { Redelivery } from './parking/redelivery.js';
export { OutboxRelay } from './outbox/outbox.relay.js';
export { type Part } from './producing/record.buffer.js';
export { type OutgoingRecord, RecordProducer } from './producing/record.producer.js';
export { KafkaTransport } from './transport/kafka.transport.js';
