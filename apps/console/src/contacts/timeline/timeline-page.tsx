import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../../session/use-session.tsx';
import { Filters, FilterSelect } from '../../ui/filters.tsx';
import { Empty, Failure, Forbidden } from '../../ui/notices.tsx';
import type { TimelineSearch } from '../search-params.ts';
import { LinkedChain } from './linked-chain.tsx';
import { TimelineList } from './timeline-list.tsx';
import { useTimeline } from './use-timeline.ts';
import { useWords } from './words.tsx';

const FROM = '/o/$organization/contacts/$contactId/' as const;
/** Which type is of which source, and what one needs to see it. */
const TYPES = {
  event: { source: 'core', permission: 'core.events.read' },
  consent: { source: 'core', permission: 'core.consents.read' },
  transaction: { source: 'loyalty', permission: 'loyalty.transactions.read' },
  send: { source: 'messaging', permission: 'messaging.sends.read' },
} as const;

const typeNames = Object.keys(TYPES) as (keyof typeof TYPES)[];

/** What happened with a contact, newest first, each cause with its effects as one chain. */
export function TimelinePage(): ReactNode {
  const may = useMay();
  if (!may('crm.timeline.read')) return <Forbidden permission="crm.timeline.read" />;
  return <TimelineTab />;
}

function TimelineTab(): ReactNode {
  const { contactId } = useParams({ from: FROM });
  const { source, type, open } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const timeline = useTimeline(contactId, {
    ...(source === undefined ? {} : { source }),
    ...(type === undefined ? {} : { type }),
  });
  const change = (changed: Partial<TimelineSearch>): void => {
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true, resetScroll: false });
  };
  const isListed = timeline.loading || timeline.chains.some(({ key }) => key === open);
  const linked = isListed ? undefined : open;
  const filtered = source !== undefined || type !== undefined;
  return (
    <div className="flex flex-col gap-4">
      <TimelineFilters source={source} type={type} onChange={change} />
      {linked !== undefined && (
        <LinkedChain
          contactId={contactId}
          correlationId={linked}
          timeline={timeline}
          onClose={() => change({ open: undefined })}
        />
      )}
      {timeline.loading ? (
        <Bones />
      ) : timeline.error != null && timeline.items.length === 0 ? (
        <Failure error={timeline.error} again={timeline.again} />
      ) : (
        <TimelineList
          contactId={contactId}
          timeline={timeline}
          open={open}
          onOpen={(key) => change({ open: key })}
          empty={<Nothing filtered={filtered} />}
        />
      )}
    </div>
  );
}

function TimelineFilters({
  source,
  type,
  onChange,
}: {
  source: TimelineSearch['source'];
  type: TimelineSearch['type'];
  onChange: (changed: Partial<TimelineSearch>) => void;
}): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const words = useWords();
  const seen = typeNames.filter((name) => may(TYPES[name].permission));
  const sources = [...new Set(seen.map((name) => TYPES[name].source))];
  const types = seen.filter((name) => source === undefined || TYPES[name].source === source);
  return (
    <Filters>
      <FilterSelect
        label={t('timeline.source')}
        value={source}
        onChange={(value) =>
          onChange({ source: sources.find((each) => each === value), type: undefined, open: undefined })
        }
        options={sources.map((value) => ({ value, label: words.source(value) }))}
      />
      <FilterSelect
        label={t('timeline.type')}
        value={type}
        onChange={(value) => onChange({ type: types.find((each) => each === value), open: undefined })}
        options={types.map((value) => ({ value, label: t(`types.${value}`) }))}
      />
    </Filters>
  );
}

function Nothing({ filtered }: { filtered: boolean }): ReactNode {
  const t = useTranslations('contacts');
  if (filtered) return <Empty title={t('timeline.noneSo')} />;
  return <Empty title={t('timeline.none')}>{t('timeline.noneLead')}</Empty>;
}

function Bones(): ReactNode {
  return (
    <div aria-busy className="flex flex-col gap-2">
      {Array.from({ length: 6 }, (_, index) => (
        <div key={index} className="bones h-11" />
      ))}
    </div>
  );
}
