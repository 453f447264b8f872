import { createRequire } from 'node:module';

/** How long a fetch waits where nothing has come of late. A stop, and whatever else the connection carries, waits for it. */
const QUIET_MS = 500;

interface Fetch {
  readonly maxWaitTime: number;
  readonly minBytes: number;
}

interface FetchAnswer {
  readonly responses: readonly {
    readonly partitions: readonly { readonly messages: readonly unknown[] }[];
  }[];
}

/** What a consumer fetches from, as far as this file is concerned; each consumer has its own. */
interface Broker {
  fetch: (this: Broker, request: Fetch) => Promise<FetchAnswer>;
}

let repaired = false;

/**
 * kafkajs 2.2.4 fetches by one measure, whatever comes. What gathers records under load asks seven times a second where
 * there are none. Here a fetch that follows on an empty one waits longer, and is answered by the first record: the next
 * one gathers again.
 */
export function longPollWhereNothingComes(): void {
  if (repaired) return;
  repaired = true;
  const load = createRequire(import.meta.url);
  const { prototype } = load('kafkajs/src/broker/index.js') as { prototype: Broker };
  const { fetch } = prototype;
  const quiet = new WeakSet<Broker>();
  prototype.fetch = async function (this: Broker, request) {
    const patient = { ...request, maxWaitTime: Math.max(request.maxWaitTime, QUIET_MS), minBytes: 1 };
    const answer = await fetch.call(this, quiet.has(this) ? patient : request);
    if (bringsAny(answer)) quiet.delete(this);
    else quiet.add(this);
    return answer;
  };
}

function bringsAny({ responses }: FetchAnswer): boolean {
  return responses.some(({ partitions }) => partitions.some(({ messages }) => messages.length > 0));
}
