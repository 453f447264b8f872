export { type IncomingRecord, RecordConsumers } from './consuming/record.consumers.js';
export { type Positions } from './consuming/positions.js';
export { TopicReader } from './consuming/topic.reader.js';
export {
  isInfrastructureError,
  LeftForLater,
  mayBeOfItsValues,
  QueueUnavailable,
  RecordTooLarge,
} from './errors.js';
export { connectEventBus, EventBusModule } from './event-bus.module.js';
export { Inbox } from './inbox/inbox.js';
export { type Ends, TopicEnds } from './kafka/topic.ends.js';
export { type Acl, aclsOf } from './kafka/acls.js';
export { KafkaClient } from './kafka/kafka.client.js';
export { MarkedKafka } from './kafka/marked.kafka.js';
export { accessOf, eventsHeardBy, type ModuleAccess } from './kafka/module-access.js';
export { Topics } from './kafka/topics.js';
export { type EventFailure } from './delivery/event-delivery.js';
export { keyHash } from './key-hash.js';
export { OnEvent } from './on-event.decorator.js';
export { type NewDomainEvent, Outbox } from './outbox/outbox.js';
export { outboxAge } from './outbox/outbox.age.js';
export { OutboxSignal } from './outbox/outbox.signal.js';
export { forgetParked } from './parking/forget-parked.js';
export { ParkedEvents, storable, type ParkedEvent, type ParkedFilter } from './parking/parked-events.js';
export { Redelivery } from './parking/redelivery.js';
export { PROOF_HEADER, proofsOf, type ProvenRecord, RecordProofs, signerOf } from './proof/record-proofs.js';
export { OutboxRelay } from './outbox/outbox.relay.js';
export { type Part } from './producing/record.buffer.js';
export { RecordProducer } from './producing/record.producer.js';
export { KafkaTransport } from './transport/kafka.transport.js';
