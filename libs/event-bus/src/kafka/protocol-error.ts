/**
 * The broker's error code (`TOPIC_ALREADY_EXISTS`) if the broker's answer is what the error tells of. By name: Node's
 * ES modules do not see the error classes that kafkajs exports.
 */
export function protocolErrorType(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'KafkaJSProtocolError') return undefined;
  const { type } = error as { type?: unknown };
  return typeof type === 'string' ? type : undefined;
}
