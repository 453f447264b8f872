import { createRequire } from 'node:module';
import { log } from '@customer-platform/http';

/** The reading of one version of an answer, as far as this file is concerned. */
interface AnswerReader {
  parse: (answer: MetadataAnswer | ProduceAnswer) => Promise<unknown>;
}

interface MetadataAnswer {
  topicMetadata: { topicErrorCode: number; partitionMetadata: { partitionErrorCode: number }[] }[];
}

interface ProduceAnswer {
  topics: { partitions: { errorCode: number }[] }[];
}

/** The brokers that a client knows, as far as this file is concerned. */
interface BrokerPool {
  brokers: Record<string, { isConnected(): boolean }>;
  findBroker: (of: { nodeId: string }) => Promise<unknown>;
  withBroker: (
    this: BrokerPool,
    ask: (of: { nodeId: string; broker: unknown }) => Promise<unknown>,
  ) => Promise<unknown>;
}

const PRODUCE_VERSIONS = [3, 4, 5, 6, 7];
const METADATA_VERSIONS = [0, 1, 2, 3, 4, 5, 6];

let repaired = false;

/**
 * kafkajs 2.2.4 throws a whole answer away when one partition in it has an error: one partition without a leader, and
 * no producer learns what else was written, and neither producer nor consumer learns where the other partitions are.
 * Here an answer to `produce` keeps the error of each partition beside it, and metadata keep partitions that nobody
 * leads (their leader is -1). What is wrong with a topic as a whole is thrown as before. And what any broker can answer
 * is asked of the next one when the first cannot be reached.
 */
export function keepPartitionErrors(): void {
  if (repaired) return;
  repaired = true;
  const load = createRequire(import.meta.url);
  const reader = (request: string, version: number): AnswerReader =>
    load(`kafkajs/src/protocol/requests/${request}/v${String(version)}/response.js`) as AnswerReader;
  const pool = load('kafkajs/src/cluster/brokerPool.js') as { prototype: BrokerPool };
  const { withBroker } = pool.prototype;
  pool.prototype.withBroker = function (this: BrokerPool, ask) {
    return Object.keys(this.brokers).length === 0 ? withBroker.call(this, ask) : askAnyBroker(this, ask);
  };
  for (const version of PRODUCE_VERSIONS) {
    reader('produce', version).parse = (answer) => Promise.resolve(answer);
  }
  for (const version of METADATA_VERSIONS) {
    const known = reader('metadata', version);
    const { parse } = known;
    known.parse = async (answer) => {
      if ('topicMetadata' in answer) await parse({ ...answer, topicMetadata: withoutPartitions(answer) });
      return answer;
    };
  }
}

function withoutPartitions({ topicMetadata }: MetadataAnswer): MetadataAnswer['topicMetadata'] {
  return topicMetadata.map((topic) => ({ ...topic, partitionMetadata: [] }));
}

/** Those that are connected first; null when those that were reached gave no answer, as kafkajs has it. */
async function askAnyBroker(
  pool: BrokerPool,
  ask: (of: { nodeId: string; broker: unknown }) => Promise<unknown>,
): Promise<unknown> {
  const ids = Object.keys(pool.brokers)
    .map((nodeId) => ({ nodeId, at: (pool.brokers[nodeId]?.isConnected() ? 0 : 1) + Math.random() }))
    .sort((a, b) => a.at - b.at);
  let unreachable: unknown;
  let reached = false;
  for (const { nodeId } of ids) {
    let broker: unknown;
    try {
      broker = await pool.findBroker({ nodeId });
    } catch (error) {
      unreachable = error;
      continue;
    }
    reached = true;
    try {
      return await ask({ nodeId, broker });
    } catch (error) {
      log.debug({ err: error, broker: nodeId }, 'A broker gave no answer; the next one may know better');
    }
  }
  if (reached) return null;
  throw unreachable;
}
