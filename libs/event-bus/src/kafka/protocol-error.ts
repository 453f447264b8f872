import { createRequire } from 'node:module';

const inner = createRequire(import.meta.url)('kafkajs/src/protocol/error.js') as {
  createErrorFromCode(code: number): Error;
};

/** The error of kafkajs that stands for a code of the protocol. */
export function createErrorFromCode(code: number): Error {
  return inner.createErrorFromCode(code);
}

/**
 * The broker's error code (`TOPIC_ALREADY_EXISTS`) if the broker's answer is what the error tells of. By name: Node's
 * ES modules do not see the error classes that kafkajs exports.
 */
export function protocolErrorType(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'KafkaJSProtocolError') return undefined;
  const { type } = error as { type?: unknown };
  return typeof type === 'string' ? type : undefined;
}
