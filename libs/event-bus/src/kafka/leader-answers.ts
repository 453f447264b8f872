import { createRequire } from 'node:module';
import { log } from '@customer-platform/http';
import { within } from '../within.js';
import { protocolErrorType } from './protocol-error.js';

/** A leader that says nothing for so long is left out: it shall not hold up what others lead. */
const ANSWER_WITHIN_MS = 3_000;

interface Asked {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
  readonly fromBeginning?: boolean;
  readonly fromTimestamp?: number | string;
}

interface Offsets {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
}

/** What a client knows of the cluster, as far as this file is concerned. */
interface Cluster {
  fetchTopicsOffset: (this: Cluster, topics: readonly Asked[]) => Promise<Offsets[]>;
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Record<string, number[]>;
  refreshMetadata(): Promise<void>;
}

type Ask = (asked: Asked) => Promise<Offsets['partitions']>;

let repaired = false;

/**
 * kafkajs 2.2.4 asks the leaders of all partitions for offsets at once, also the one numbered -1, and throws everything
 * away when one of them does not answer. Here each leader's answer counts; the partitions that nobody leads, or whose
 * leader does not answer, are missing from the result. When no leader answers at all, it throws as before.
 */
export function askLeadersApart(): void {
  if (repaired) return;
  repaired = true;
  const load = createRequire(import.meta.url);
  const { prototype } = load('kafkajs/src/cluster/index.js') as { prototype: Cluster };
  const { fetchTopicsOffset } = prototype;
  prototype.fetchTopicsOffset = async function (this: Cluster, topics) {
    const ask: Ask = async (asked) => {
      const answers = await within(ANSWER_WITHIN_MS, fetchTopicsOffset.call(this, [asked]));
      return answers.flatMap(({ partitions }) => partitions);
    };
    const requests = topics.flatMap((topic) => byLeader(this, topic));
    const results = await Promise.all(requests.map((request) => answersTo(ask, request)));
    const failures = results.flatMap(({ failed }) => failed);
    const answered = results.some(({ offsets }) => offsets.length > 0);
    if (failures.length > 0 && !answered) throw failures[0];
    // Who leads may have changed; the next question shall go to whoever does now.
    if (failures.length > 0) {
      await this.refreshMetadata().catch((error: unknown) => {
        log.debug({ err: error }, 'Who leads is not known anew');
      });
    }
    return topics.map(({ topic }) => ({
      topic,
      partitions: results.flatMap((result, at) => (requests[at]?.topic === topic ? result.offsets : [])),
    }));
  };
}

/** One question for each leader that there is. */
function byLeader(cluster: Cluster, asked: Asked): Asked[] {
  const ids = asked.partitions.map(({ partition }) => partition);
  return Object.entries(cluster.findLeaderForPartitions(asked.topic, ids))
    .filter(([leader]) => leader !== '-1')
    .map(([, led]) => ({ ...asked, partitions: led.map((partition) => ({ partition })) }));
}

/** A leader that refuses one partition refuses the whole question: its partitions are then asked for one by one. */
async function answersTo(
  ask: Ask,
  asked: Asked,
): Promise<{ offsets: Offsets['partitions']; failed: unknown[] }> {
  try {
    return { offsets: await ask(asked), failed: [] };
  } catch (error) {
    log.debug({ err: error, topic: asked.topic }, 'A leader did not tell offsets');
    if (asked.partitions.length === 1 || protocolErrorType(error) === undefined) {
      return { offsets: [], failed: [error] };
    }
  }
  const alone = await Promise.all(
    asked.partitions.map((partition) => answersTo(ask, { ...asked, partitions: [partition] })),
  );
  return {
    offsets: alone.flatMap(({ offsets }) => offsets),
    failed: alone.flatMap(({ failed }) => failed),
  };
}
