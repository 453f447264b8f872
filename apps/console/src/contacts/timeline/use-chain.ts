import type { Client } from '@customer-platform/client';
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
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
import { readStays, TRUSTED_MS, type Status, type Stays } from './stays.ts';
import { readTimeline } from './use-timeline.ts';

const WHOLE = 200;
const COMING_EVERY_MS = 2_000;
const SILENT_EVERY_MS = 5_000;
/** Memberships are asked of each segment; of more than these it would cost the organization's rate. */
const SEGMENTS_ASKED = 40;
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

interface OpenedChain {
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

interface Memberships {
  entries: Entry[];
  /** Those that the contact is in now. */
  current: { id: string; name: string }[];
  /** There are segments that were not asked, or did not answer. */
  more: boolean;
}

/** Into which segments the contact went, and when; with those that it has left again. */
export function useMemberships(contactId: string, refetchInterval: number | false = false) {
  return useStays(contactId, ['current', 'left'], refetchInterval);
}

/** The segments that the contact is in now. */
export function useCurrentSegments(contactId: string) {
  return useStays(contactId, ['current'], false);
}

function useStays(contactId: string, statuses: readonly Status[], refetchInterval: number | false) {
  const api = useApi();
  const may = useMay();
  const cache = useQueryClient();
  const { organization } = usePerson();
  const queryKey = [organization.id, 'contacts', contactId, 'segments', statuses];
  return useQuery({
    queryKey,
    enabled: may('core.segments.read'),
    queryFn: ({ signal }) =>
      askSegments(api, contactId, statuses, cache.getQueryData<AskedSegments>(queryKey)?.stays, signal),
    select: membershipsOf,
    staleTime: TRUSTED_MS,
    refetchInterval,
  });
}

interface AskedSegments {
  stays: Stays;
  more: boolean;
}

async function askSegments(
  api: Client,
  contactId: string,
  statuses: readonly Status[],
  before: Stays | undefined,
  signal: AbortSignal,
): Promise<AskedSegments> {
  const query = { limit: SEGMENTS_ASKED };
  const { data: segments } = await api.GET('/v1/core/segments', { params: { query }, signal });
  const ask = async (id: string, status: Status) => {
    const params = { path: { id }, query: { contact_id: contactId, status } };
    return (await api.GET('/v1/core/segments/{id}/members', { params, signal })).data.data;
  };
  const reading = { segments: segments.data, statuses, before, ask, now: Date.now() };
  const { stays, silent } = await readStays(reading);
  signal.throwIfAborted();
  return { stays, more: segments.page.next_cursor !== null || silent > 0 };
}

function membershipsOf({ stays, more }: AskedSegments): Memberships {
  const all = Object.entries(stays);
  return {
    entries: all.flatMap(([, { current, left }]) => [...current, ...left]),
    current: all.filter(([, { current }]) => current.length > 0).map(([id, { name }]) => ({ id, name })),
    more,
  };
}
