import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { useNames } from '../ui/name-select.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { AUDIENCE_PERMISSIONS, type AudienceType, type Campaign } from './campaign.ts';

const OFFERED = 200;
/** A new segment is counted as its members become known. */
const COUNTED_AGAIN_MS = 5_000;

/** A segment or a list, as far as one aims at it. */
interface Audience {
  id: string;
  name: string;
  count: number;
  /** Of a segment that is still being built neither its members nor their count are known. */
  building: boolean;
}

interface Row {
  id: string;
  name: string;
  member_count: number;
  state?: string;
}

const audienceOf = ({ id, name, member_count: count, state }: Row): Audience => ({
  id,
  name,
  count,
  building: state === 'building',
});

/** What one can aim at, by the beginning of its name; nothing without the right to see it. */
export function useAudiences(type: AudienceType, prefix: string) {
  const api = useApi();
  const may = useMay();
  return useNames(
    ['campaigns', 'audiences', type],
    prefix,
    may(AUDIENCE_PERMISSIONS[type]),
    async (signal) => {
      const named = prefix === '' ? {} : { 'name[prefix]': prefix };
      const params = { query: { limit: OFFERED, sort: 'name' as const, ...named } };
      const { data, page } =
        type === 'segment'
          ? (await api.GET('/v1/core/segments', { params, signal })).data
          : (await api.GET('/v1/crm/lists', { params, signal })).data;
      return { items: (data as Row[]).map(audienceOf), more: page.next_cursor !== null };
    },
  );
}

/** The one that a campaign is aimed at, with how many are in it now. */
export function useAudience({ type, id }: Campaign['audience'], enabled = true) {
  const api = useApi();
  const may = useMay();
  return useOwnQuery({
    queryKey: ['campaigns', 'audience', type, id],
    enabled: enabled && id !== '' && may(AUDIENCE_PERMISSIONS[type]),
    refetchInterval: COUNTED_AGAIN_MS,
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      const { data } =
        type === 'segment'
          ? await api.GET('/v1/core/segments/{id}', { params, signal })
          : await api.GET('/v1/crm/lists/{id}', { params, signal });
      return audienceOf(data);
    },
  });
}
