import { useQueryClient } from '@tanstack/react-query';
import { useLocation, useRouter } from '@tanstack/react-router';
import { usePerson, useSession } from '../session/use-session.tsx';

/** To the same page of another organization; nothing that was read of this one stays. */
export function useSwitch(): (slug: string) => Promise<void> {
  const session = useSession();
  const person = usePerson();
  const queries = useQueryClient();
  const router = useRouter();
  const { pathname } = useLocation();
  return async (slug) => {
    if (slug === person.organization.slug) return;
    const [, , , page = ''] = pathname.split('/'); // '', 'o', slug, page
    const to = `/o/${slug}/${page}`;
    if (!(await session.switchTo(slug, `/console${to}`))) return;
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === person.organization.id });
    await router.navigate({ to });
  };
}
