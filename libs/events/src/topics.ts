import { topicOfModule } from './catalogue.js';
import { PUBLISHERS, type Publisher } from './definition.js';

/** A topic whose records are no domain events. */
interface RecordTopic {
  /** The module that makes it, and alone consumes it. */
  readonly owner: Publisher;
  readonly writers: readonly Publisher[];
  /** The owner's consumer groups. */
  readonly groups: Readonly<Record<string, string>>;
  /** Whether an operator's command of the owner reads it as a whole. */
  readonly readWhole?: boolean;
  /** Without an end to what it keeps; all others keep a record for 7 days. */
  readonly keptForEver?: boolean;
}

/**
 * Every topic beside those of domain events: consumers take their groups from here, and the rights of modules on the
 * brokers are derived from it.
 */
export const RECORD_TOPICS = {
  'core.ingestion': {
    owner: 'core',
    writers: ['core'],
    groups: { worker: 'core.ingestion', acceptances: 'core.ingestion.acceptances' },
  },
  'audit.entries': { owner: 'core', writers: PUBLISHERS, groups: { log: 'core.audit-log' } },
  'audit.checkpoints': { owner: 'core', writers: ['core'], groups: {}, readWhole: true, keptForEver: true },
} as const satisfies Record<string, RecordTopic>;

/** The name of a topic that carries no domain events. */
export type RecordTopicName = keyof typeof RECORD_TOPICS;

/** What is declared of a topic; undefined of domain events, and of what nobody declared. */
export function recordTopic(topic: string): RecordTopic | undefined {
  return Object.hasOwn(RECORD_TOPICS, topic) ? RECORD_TOPICS[topic as RecordTopicName] : undefined;
}

/** The module whose a topic is: nobody else makes or alters it. Undefined of what nobody declared. */
export function ownerOfTopic(topic: string): Publisher | undefined {
  return PUBLISHERS.find((module) => topicOfModule(module) === topic) ?? recordTopic(topic)?.owner;
}

/** Whether the module may write to a topic. */
export function isWriterOf(module: Publisher, topic: string): boolean {
  return topic === topicOfModule(module) || recordTopic(topic)?.writers.includes(module) === true;
}
