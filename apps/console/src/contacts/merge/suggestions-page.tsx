import type { Schemas } from '@customer-platform/client';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { ContactName } from '../../people/person.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Filters, FilterSelect } from '../../ui/filters.tsx';
import { useList } from '../../ui/list.ts';
import { Empty, Failure, Forbidden } from '../../ui/notices.tsx';
import { Page } from '../../ui/page.tsx';

const FROM = '/o/$organization/contacts/merge-suggestions' as const;
const PAGE = 25;
const SUGGESTION_STATES = ['open', 'merged', 'dismissed', 'stale'] as const;

type Suggestion = Schemas['MergeSuggestionDto'];

/** Pairs of contacts that may be one person, the likeliest first. */
export function SuggestionsPage(): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const { state = 'open' } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  if (!may('core.contacts.merge')) return <Forbidden permission="core.contacts.merge" />;
  return (
    <Page title={t('suggestions.title')} lead={t('suggestions.lead')}>
      <Filters>
        <FilterSelect
          label={t('suggestions.state')}
          value={state === 'all' ? undefined : state}
          onChange={(value) =>
            void navigate({
              search: { state: SUGGESTION_STATES.find((each) => each === value) ?? 'all' },
              replace: true,
            })
          }
          options={SUGGESTION_STATES.map((value) => ({ value, label: t(`suggestions.states.${value}`) }))}
        />
      </Filters>
      <Suggested state={state} />
    </Page>
  );
}

function Suggested({ state }: { state: Suggestion['state'] | 'all' }): ReactNode {
  const t = useTranslations('contacts');
  const ui = useTranslations('ui');
  const api = useApi();
  const list = useList(['contacts', 'suggestions', state], async (cursor, signal) => {
    const query = {
      limit: PAGE,
      ...(state === 'all' ? {} : { state }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    return (await api.GET('/v1/core/merge-suggestions', { params: { query }, signal })).data;
  });
  if (list.error != null && list.items.length === 0) return <Failure error={list.error} again={list.again} />;
  if (list.loading) return <div aria-busy className="bones h-32" />;
  if (list.items.length === 0)
    return <Empty title={t('suggestions.none')}>{t('suggestions.noneLead')}</Empty>;
  return (
    <ul aria-label={t('suggestions.title')} className="flex flex-col gap-3">
      {list.items.map((suggestion) => (
        <li key={suggestion.id}>
          <Pair suggestion={suggestion} />
        </li>
      ))}
      {list.hasMore && (
        <li>
          <Button look="quiet" busy={list.loadingMore} onClick={list.more}>
            {ui('more')}
          </Button>
        </li>
      )}
    </ul>
  );
}

function Pair({ suggestion }: { suggestion: Suggestion }): ReactNode {
  const t = useTranslations('contacts');
  const { number } = useFormatter();
  const { organization } = useParams({ from: FROM });
  const { contact_ids, suggested_survivor_id: survivor, score, reasons, state } = suggestion;
  const merged = contact_ids.find((id) => id !== survivor);
  return (
    <article className="flex flex-wrap items-center gap-x-6 gap-y-3 rounded-panel border border-line p-4">
      <div className="flex min-w-0 grow basis-64 flex-col gap-2">
        <p className="flex flex-wrap items-center gap-x-2">
          {[survivor, merged].map((id) => id !== undefined && <Named key={id} id={id} />)}
        </p>
        <p className="flex flex-wrap items-center gap-2 text-xs text-soft">
          {t('suggestions.score', { score: number(score, { style: 'percent' }) })}
          {reasons.map(({ signal, masked }) => (
            <Badge key={`${signal}${masked}`}>
              {t(`suggestions.signals.${signal}`)} {masked}
            </Badge>
          ))}
        </p>
      </div>
      {state === 'open' && merged !== undefined ? (
        <ButtonLink
          look="main"
          to="/o/$organization/contacts/merge"
          params={{ organization }}
          search={{ survivor, merged }}
        >
          {t('suggestions.look')}
        </ButtonLink>
      ) : (
        <Badge>{t(`suggestions.states.${state}`)}</Badge>
      )}
    </article>
  );
}

function Named({ id }: { id: string }): ReactNode {
  const { organization } = useParams({ from: FROM });
  return (
    <ButtonLink
      look="quiet"
      to="/o/$organization/contacts/$contactId"
      params={{ organization, contactId: id }}
    >
      <span className="max-w-[16rem] truncate font-medium text-ink">
        <ContactName id={id} plain />
      </span>
    </ButtonLink>
  );
}
