import type { Admin } from 'kafkajs';
import { createErrorFromCode } from '../src/kafka/protocol-error.js';

/** The code of brokers whose owner allows something to nobody. */
export const POLICY_VIOLATION = 44;

/**
 * An administration client of brokers that answer this code to some requests, as kafkajs tells of it; the cluster of these
 * tests refuses nothing.
 * @param refuses of a request, by its name and what it asks for as JSON
 */
export function refusing(admin: Admin, code: number, refuses: (said: string) => boolean): Admin {
  const guarded = (name: 'createTopics' | 'deleteTopics' | 'alterConfigs') => (asked: never) => {
    if (!refuses(`${name} ${JSON.stringify(asked)}`)) return admin[name](asked);
    const error = createErrorFromCode(code);
    if (name !== 'createTopics') throw error;
    const ofTopic = Object.assign(new Error('refused', { cause: error }), {
      name: 'KafkaJSCreateTopicError',
      type: (error as { type?: unknown }).type,
    });
    throw Object.assign(new Error('refused'), { name: 'KafkaJSAggregateError', errors: [ofTopic] });
  };
  const [createTopics, deleteTopics, alterConfigs] = (
    ['createTopics', 'deleteTopics', 'alterConfigs'] as const
  ).map(guarded) as [Admin['createTopics'], Admin['deleteTopics'], Admin['alterConfigs']];
  return { ...admin, createTopics, deleteTopics, alterConfigs };
}
