import type { UseQueryResult } from '@tanstack/react-query';
import { Link, useParams, type LinkProps } from '@tanstack/react-router';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Note } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { useLastSends } from './use-last-day.ts';

/** Lists say no totals: so many are counted, and of more it is said that there are more. */
const COUNTED = 200;

interface Finding {
  name: 'deadLetters' | 'failedSends' | 'disabledEndpoints' | 'mergeSuggestions';
  count: number;
  more: boolean;
}

type Name = Finding['name'];

interface Answer {
  findings: Finding[];
  /** What could not be asked: of it nothing is known. */
  unanswered: Name[];
}

interface Listed {
  data: unknown[];
  page: { next_cursor: string | null };
}

/** What waits for a person. Each is asked for by itself, so that one that does not answer hides no other. */
export function Attention(): ReactNode {
  const t = useTranslations('home');
  const { number } = useFormatter();
  const { data, refetch } = useFindings();
  const sends = useLastSends();
  if (data === undefined || (sends.enabled && sends.isPending))
    return <div aria-busy className="bones h-16" />;
  const { findings, unanswered } = withSends(data, sends);
  const names = unanswered.map((name) => t(`asked.${name}`)).join(', ');
  return (
    <Section title={t('attention')}>
      {unanswered.length > 0 && (
        <Note tone="warn">
          {t('unanswered', { names })}{' '}
          <AskAgain onClick={() => void Promise.all([refetch(), sends.refetch()])} />
        </Note>
      )}
      {findings.length === 0 && unanswered.length === 0 && (
        <p className="flex items-center gap-2 text-soft">
          <CircleCheck aria-hidden className="size-4 text-good" />
          {t('allWell')}
        </p>
      )}
      {findings.length > 0 && (
        <ul className="flex flex-col divide-y divide-line rounded-panel border border-line">
          {findings.map(({ name, count, more }) => (
            <li key={name} className="flex items-center gap-3 px-4 py-2.5">
              <TriangleAlert aria-hidden className="size-4 shrink-0 text-warn" />
              <FindingLink name={name}>
                {t(`findings.${name}`, { count, shown: more ? t('moreThan', { count }) : number(count) })}
              </FindingLink>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** Those that failed are counted with all others of the last day. */
function withSends(
  { findings, unanswered }: Answer,
  { data, error }: ReturnType<typeof useLastSends>,
): Answer {
  if (error !== null && data === undefined) return { findings, unanswered: [...unanswered, 'failedSends'] };
  const count = data?.['failed'] ?? 0;
  return {
    findings: count > 0 ? [...findings, { name: 'failedSends', count, more: false }] : findings,
    unanswered,
  };
}

function AskAgain({ onClick }: { onClick: () => void }): ReactNode {
  const t = useTranslations('ui');
  return <Button onClick={onClick}>{t('again')}</Button>;
}

/** The address where one does something about it. */
const PAGES = {
  deadLetters: { to: '/o/$organization/developers/dead-letters', search: { state: 'pending' } },
  failedSends: { to: '/o/$organization/messages', search: { state: 'failed' } },
  disabledEndpoints: { to: '/o/$organization/developers/webhooks', search: { enabled: 'false' } },
  mergeSuggestions: { to: '/o/$organization/contacts/merge-suggestions', search: { state: 'open' } },
} as const satisfies Record<Name, LinkProps>;

/** Links to the page where one does something about it. */
function FindingLink({ name, children }: { name: Finding['name']; children: ReactNode }): ReactNode {
  const { organization = '' } = useParams({ strict: false });
  return (
    <Link {...PAGES[name]} params={{ organization }} className="text-accent underline">
      {children}
    </Link>
  );
}

function useFindings(): UseQueryResult<Answer> {
  const api = useApi();
  const may = useMay();
  return useOwnQuery({
    queryKey: ['home', 'attention'],
    refetchInterval: 30_000,
    queryFn: async ({ signal }) => {
      const limit = COUNTED;
      const ask = (query: Record<string, unknown>) => ({ params: { query: { limit, ...query } }, signal });
      const finding = async (
        name: Name,
        permission: string,
        list: () => Promise<{ data: Listed }>,
      ): Promise<Answer> => {
        if (!may(permission)) return { findings: [], unanswered: [] };
        try {
          const { data: found } = await list();
          const count = found.data.length;
          const findings = count > 0 ? [{ name, count, more: found.page.next_cursor !== null }] : [];
          return { findings, unanswered: [] };
        } catch {
          return { findings: [], unanswered: [name] };
        }
      };
      const asked = await Promise.all([
        finding('deadLetters', 'core.jobs.read', () =>
          api.GET('/v1/core/dead-letters', ask({ state: 'pending' })),
        ),
        finding('disabledEndpoints', 'messaging.webhooks.read', () =>
          api.GET('/v1/messaging/webhook-endpoints', ask({ enabled: false })),
        ),
        finding('mergeSuggestions', 'core.contacts.merge', () =>
          api.GET('/v1/core/merge-suggestions', ask({ state: 'open' })),
        ),
      ]);
      return {
        findings: asked.flatMap(({ findings }) => findings),
        unanswered: asked.flatMap(({ unanswered }) => unanswered),
      };
    },
  });
}
