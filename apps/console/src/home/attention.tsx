import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Section } from '../ui/page.tsx';

const DAY_MS = 86_400_000;
const COUNTED = 50;

interface Finding {
  name: 'deadLetters' | 'failedSends' | 'disabledEndpoints' | 'mergeSuggestions';
  count: number;
  more: boolean;
}

interface Listed {
  data: unknown[];
  page: { next_cursor: string | null };
}

/** What waits for a person. Each is asked for by itself, so that one that does not answer hides no other. */
export function Attention(): ReactNode {
  const t = useTranslations('home');
  const findings = useFindings();
  if (findings === undefined) return <div aria-busy className="bones h-16" />;
  return (
    <Section title={t('attention')}>
      {findings.length === 0 ? (
        <p className="flex items-center gap-2 text-soft">
          <CircleCheck aria-hidden className="size-4 text-good" />
          {t('allWell')}
        </p>
      ) : (
        <ul className="flex flex-col divide-y divide-line rounded-panel border border-line">
          {findings.map(({ name, count, more }) => (
            <li key={name} className="flex items-center gap-3 px-4 py-2.5">
              <TriangleAlert aria-hidden className="size-4 shrink-0 text-warn" />
              <FindingLink name={name}>
                {t(`findings.${name}`, { count: `${count}${more ? '+' : ''}` })}
              </FindingLink>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** To the page where one does something about it, where the Console has one. */
function FindingLink({ name, children }: { name: Finding['name']; children: ReactNode }): ReactNode {
  const { organization = '' } = useParams({ strict: false });
  const params = { organization };
  const className = 'text-accent underline';
  if (name === 'deadLetters') {
    const to = '/o/$organization/developers/dead-letters';
    return (
      <Link to={to} params={params} search={{ state: 'pending' }} className={className}>
        {children}
      </Link>
    );
  }
  if (name === 'disabledEndpoints') {
    const to = '/o/$organization/developers/webhooks';
    return (
      <Link to={to} params={params} search={{ enabled: 'false' }} className={className}>
        {children}
      </Link>
    );
  }
  return children;
}

function useFindings(): Finding[] | undefined {
  const api = useApi();
  const may = useMay();
  const { organization } = usePerson();
  const { data } = useQuery({
    queryKey: [organization.id, 'home', 'attention'],
    refetchInterval: 30_000,
    queryFn: async ({ signal }) => {
      const limit = COUNTED;
      const since = new Date(Date.now() - DAY_MS).toISOString();
      const ask = (query: Record<string, unknown>) => ({ params: { query: { limit, ...query } }, signal });
      const finding = async (
        name: Finding['name'],
        permission: string,
        list: () => Promise<{ data: Listed }>,
      ): Promise<Finding[]> => {
        if (!may(permission)) return [];
        const { data: found } = await list();
        return [{ name, count: found.data.length, more: found.page.next_cursor !== null }];
      };
      const asked = await Promise.allSettled([
        finding('deadLetters', 'core.jobs.read', () =>
          api.GET('/v1/core/dead-letters', ask({ state: 'pending' })),
        ),
        finding('failedSends', 'messaging.sends.read', () =>
          api.GET('/v1/messaging/sends', ask({ state: 'failed', 'created_at[gte]': since })),
        ),
        finding('disabledEndpoints', 'messaging.webhooks.read', () =>
          api.GET('/v1/messaging/webhook-endpoints', ask({ enabled: false })),
        ),
        finding('mergeSuggestions', 'core.contacts.merge', () =>
          api.GET('/v1/core/merge-suggestions', ask({ state: 'open' })),
        ),
      ]);
      return asked
        .flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
        .filter(({ count }) => count > 0);
    },
  });
  return data;
}
