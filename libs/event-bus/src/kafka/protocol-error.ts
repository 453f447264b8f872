import { createRequire } from 'node:module';
import type { KafkaJSAggregateError } from 'kafkajs';

const inner = createRequire(import.meta.url)('kafkajs/src/protocol/error.js') as {
  createErrorFromCode(code: number): Error;
};

/** The error of kafkajs that stands for a code of the protocol. */
export function createErrorFromCode(code: number): Error {
  return inner.createErrorFromCode(code);
}

const OF_PROTOCOL = new Set(['KafkaJSProtocolError', 'KafkaJSCreateTopicError']);

/**
 * The broker's error code (`TOPIC_ALREADY_EXISTS`) if the broker's answer is what the error tells of. By name: Node's
 * ES modules do not see the error classes that kafkajs exports.
 */
export function protocolErrorType(error: unknown): string | undefined {
  if (!(error instanceof Error) || !OF_PROTOCOL.has(error.name)) return undefined;
  const { type } = error as { type?: unknown };
  return typeof type === 'string' ? type : undefined;
}

/** Whether the broker answered nothing but such codes: of what was asked for together each may have its own. */
export function isOnlyOf(error: unknown, types: ReadonlySet<string>): boolean {
  const aggregate = error instanceof Error && error.name === 'KafkaJSAggregateError';
  const errors: readonly unknown[] = aggregate ? (error as KafkaJSAggregateError).errors : [error];
  return errors.every((each) => types.has(protocolErrorType(each) ?? ''));
}
