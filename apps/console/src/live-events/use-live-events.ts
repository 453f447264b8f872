import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useApi } from '../api/api.tsx';
import { usePerson, useSession } from '../session/use-session.tsx';
import { followEvents, type FeedFilters } from './event-feed.ts';
import { LiveBuffer, type LiveView } from './live-buffer.ts';

/** Faster than this nobody reads, and every drawing costs the page a little. */
const DRAWN_EVERY_MS = 100;

interface LiveEvents {
  view: LiveView;
  /** Begins anew. */
  again: () => void;
}

/** The events as they come, for these filters; `held` lets them wait. */
export function useLiveEvents(filters: FeedFilters, held: boolean): LiveEvents {
  const api = useApi();
  const session = useSession();
  const { organization } = usePerson();
  const { event, external_id, contact_id } = filters;
  const wanted = useMemo(() => ({ event, external_id, contact_id }), [event, external_id, contact_id]);
  const [turn, setTurn] = useState(0);
  // Other filters are another list: nothing of the former one is in it.
  const followed = useMemo(() => ({ buffer: new LiveBuffer(nextFrame), wanted, turn }), [wanted, turn]);
  const { buffer } = followed;
  useEffect(() => {
    const ended = new AbortController();
    const source = { api, token: session.tokensOf(organization.id), filters: followed.wanted };
    void followEvents(source, followed.buffer, ended.signal);
    return () => ended.abort();
  }, [api, session, organization.id, followed]);
  useEffect(() => buffer.hold(held), [buffer, held]);
  const view = useSyncExternalStore(buffer.subscribe, buffer.current);
  return { view, again: () => setTurn(turn + 1) };
}

/** With the browser's next frame, and never in a page that is not looked at. */
function nextFrame(run: () => void): void {
  setTimeout(() => requestAnimationFrame(run), DRAWN_EVERY_MS);
}
