import { useQueryClient } from '@tanstack/react-query';
import { useLocation, useRouter } from '@tanstack/react-router';
import { usePerson, useSession } from '../session/use-session.tsx';
import { leave } from '../ui/leaving.ts';

/**
 * Goes to the same page of another organization; nothing that was read of this one stays. What was written and not saved goes
 * only after a question: whoever stays for it leaves the promise open.
 */
export function useSwitch(): (slug: string) => Promise<void> {
  const session = useSession();
  const person = usePerson();
  const queries = useQueryClient();
  const router = useRouter();
  const { pathname } = useLocation();
  const go = async (slug: string): Promise<void> => {
    const [, , , page = ''] = pathname.split('/'); // '', 'o', slug, page
    const to = `/o/${slug}/${page}`;
    if (!(await session.switchTo(slug, `/console${to}`))) return;
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === person.organization.id });
    await router.navigate({ to });
  };
  return async (slug) => {
    if (slug === person.organization.slug) return;
    await new Promise<void>((resolve, reject) => {
      leave(document, () => void go(slug).then(resolve, reject));
    });
  };
}
