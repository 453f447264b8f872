import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useOwnQuery } from '../ui/queries.ts';

/** The organization that one works in, with all its settings and its etag; nothing for who may not read it. */
export function useSettings() {
  const may = useMay();
  const api = useApi();
  const { organization } = usePerson();
  return useOwnQuery({
    queryKey: ['organization', 'settings'],
    enabled: may('identity.organizations.read'),
    queryFn: ({ signal }) =>
      api.GET('/v1/identity/organizations/{id}', { params: { path: { id: organization.id } }, signal }),
  });
}
