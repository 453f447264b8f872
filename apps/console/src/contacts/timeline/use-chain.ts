import type { Schemas } from '@customer-platform/client';
import { useQueries } from '@tanstack/react-query';
import { isUnknownRoute, useApi } from '../../api/api.tsx';
import { useMay, usePerson } from '../../session/use-session.tsx';
import { useOwnQuery } from '../../ui/queries.ts';
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
  return useOwnQuery({
    queryKey: ['contacts', contactId, 'chain', key],
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
  /** There are older stays than those that were read. */
  more: boolean;
}

/** Into which segments the contact went, and when; with those that it has left again. */
export function useMemberships(
  contactId: string,
  refetchInterval: number | false = false,
): Memberships | undefined {
  const { data: current } = useStays(contactId, 'current', refetchInterval);
  const { data: left } = useStays(contactId, 'left', refetchInterval);
  if (current === undefined && left === undefined) return undefined;
  const pages = [current, left].filter((page) => page !== undefined);
  return {
    entries: pages.flatMap(({ data }) => data.map(entryOf)),
    more: pages.some(({ page }) => page.next_cursor !== null),
  };
}

function entryOf({ segment_id, name, entered_at, cause }: Schemas['ContactSegmentDto']): Entry {
  return { segmentId: segment_id, name, at: entered_at, cause };
}

/** The newest stays of a contact in segments: those that last, or those that have ended. */
export function useStays(
  contactId: string,
  status: 'current' | 'left',
  refetchInterval: number | false = false,
) {
  const api = useApi();
  const may = useMay();
  return useOwnQuery({
    queryKey: ['contacts', contactId, 'segments', status],
    enabled: may('core.segments.read'),
    queryFn: async ({ signal }) => {
      const params = { path: { id: contactId }, query: { status, limit: WHOLE } };
      return (await api.GET('/v1/core/contacts/{id}/segments', { params, signal })).data;
    },
    // What a platform does not have yet is not asked for again and again.
    refetchInterval: ({ state: { error } }) => (isUnknownRoute(error) ? false : refetchInterval),
  });
}
