import type { Client } from '@customer-platform/client';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { useMay, usePerson } from '../../session/use-session.tsx';
import {
  chainsOf,
  comingOf,
  sendStepsOf,
  united,
  type Chain,
  type Entry,
  type SendStep,
  type Source,
} from './chains.ts';
import { readTimeline } from './use-timeline.ts';

const WHOLE = 200;
const COMING_EVERY_MS = 2_000;
const SILENT_EVERY_MS = 5_000;
/** Memberships are asked of each segment; of more than these it would cost the organization's rate. */
const SEGMENTS_ASKED = 40;
const ASKED_AT_ONCE = 6;
const SETTLED: ReadonlySet<string> = new Set([
  'clicked',
  'bounced',
  'complained',
  'suppressed',
  'opted_out',
  'capped',
  'failed',
  'canceled',
]);

export interface OpenedChain {
  /** With what no filter and no page shows. */
  chain: Chain;
  silent: readonly Source[];
  /** There is more of it than is shown. */
  more: boolean;
  now: number;
}

/** All items of a chain, whatever the list shows of it; asked again while something of it is to come. */
export function useChainPage(contactId: string, key: string, correlationId: string | undefined) {
  const api = useApi();
  const { organization } = usePerson();
  return useQuery({
    queryKey: [organization.id, 'contacts', contactId, 'chain', key],
    enabled: correlationId !== undefined,
    queryFn: ({ signal }) =>
      readTimeline(api, contactId, { correlation_id: correlationId, limit: WHOLE }, signal),
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined) return false;
      if (data.page.unreachable.length > 0) return SILENT_EVERY_MS;
      const coming = chainsOf(data.page.data).map((chain) => comingOf(chain, data.now));
      return coming.some(({ mayFollow, inFlight }) => mayFollow || inFlight > 0) ? COMING_EVERY_MS : false;
    },
  });
}

/** The whole of an opened chain. */
export function useOpenedChain(contactId: string, chain: Chain, now: number): OpenedChain {
  const { data } = useChainPage(contactId, chain.key, chain.correlationId);
  if (data === undefined) return { chain, silent: [], more: false, now };
  const [whole] = chainsOf(united(chain.items, data.page.data));
  return {
    chain: whole ?? chain,
    silent: data.page.unreachable,
    more: data.page.page.next_cursor !== null,
    now: Number.isFinite(now) ? Math.max(now, data.now) : data.now,
  };
}

export interface SendHistory {
  steps: SendStep[] | undefined;
  error: unknown;
  again: () => void;
}

/** The states of each message of a chain, by its id. */
export function useHistories(chain: Chain): ReadonlyMap<string, SendHistory> {
  const api = useApi();
  const { organization } = usePerson();
  const sends = chain.items.flatMap((item) => (item.type === 'send' ? [item.data] : []));
  const asked = useQueries({
    queries: sends.map(({ id, state }) => ({
      // The state stands in the key: when it moves, the history is read anew.
      queryKey: [organization.id, 'sends', id, 'history', state],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const params = { path: { id }, query: { limit: WHOLE } };
        return sendStepsOf((await api.GET('/v1/messaging/sends/{id}/history', { params, signal })).data.data);
      },
      staleTime: SETTLED.has(state) ? Infinity : undefined,
    })),
  });
  return new Map(
    sends.map(({ id }, index) => [
      id,
      {
        steps: asked[index]?.data,
        error: asked[index]?.error,
        again: () => void asked[index]?.refetch(),
      },
    ]),
  );
}

export interface Memberships {
  entries: Entry[];
  /** Those that the contact is in now. */
  current: { id: string; name: string }[];
  /** There are segments that were not asked. */
  more: boolean;
}

/** Into which segments the contact went, and when. */
export function useMemberships(contactId: string, refetchInterval: number | false = false) {
  const api = useApi();
  const may = useMay();
  const { organization } = usePerson();
  return useQuery({
    queryKey: [organization.id, 'contacts', contactId, 'segments'],
    enabled: may('core.segments.read'),
    queryFn: ({ signal }) => readMemberships(api, contactId, signal),
    refetchInterval,
  });
}

async function readMemberships(api: Client, contactId: string, signal: AbortSignal): Promise<Memberships> {
  const query = { limit: SEGMENTS_ASKED };
  const { data: segments } = await api.GET('/v1/core/segments', { params: { query }, signal });
  const entries: Entry[] = [];
  const current: Memberships['current'] = [];
  const left = [...segments.data];
  const asking = Array.from({ length: ASKED_AT_ONCE }, async () => {
    for (let segment = left.shift(); segment !== undefined; segment = left.shift()) {
      const { id, name } = segment;
      for (const status of ['current', 'left'] as const) {
        const params = { path: { id }, query: { contact_id: contactId, status } };
        const { data } = await api.GET('/v1/core/segments/{id}/members', { params, signal });
        for (const { entered_at: at, cause } of data.data) entries.push({ segmentId: id, name, at, cause });
        if (status === 'current' && data.data.length > 0) current.push({ id, name });
      }
    }
  });
  await Promise.all(asking);
  return { entries, current, more: segments.page.next_cursor !== null };
}
