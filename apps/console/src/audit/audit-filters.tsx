import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ActorFilter } from '../actors/actor-filter.tsx';
import { FilterInstant, Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { isId } from '../ui/search-params.ts';
import { ActionFilter, ThingFilter } from './action-filter.tsx';
import { MODULES, OUTCOMES, type AuditFilters } from './search-params.ts';

interface AuditFilterRowProps {
  filters: AuditFilters;
  onChange: (change: AuditFilters) => void;
}

const TEXTS = ['resource_id', 'correlation_id'] as const;

/** All that the API filters the log by; the rarer ones are folded away unless one is set. */
export function AuditFilterRow({ filters, onChange }: AuditFilterRowProps): ReactNode {
  const t = useTranslations('audit');
  const text = (name: (typeof TEXTS)[number]): ReactNode => (
    <SearchField
      key={name}
      label={t(`filter.${name}`)}
      value={filters[name] ?? ''}
      takes={name === 'correlation_id' ? isId : undefined}
      onChange={(value) => onChange({ [name]: value || undefined })}
    />
  );
  const rare = filters.resource_type ?? filters.resource_id ?? filters.correlation_id;
  return (
    <div className="flex flex-col gap-3">
      <Filters>
        <ActionFilter value={filters.action} onChange={(action) => onChange({ action })} />
        <ActorFilter
          label={t('filter.actor_id')}
          value={filters.actor_id}
          onChange={(actor_id) => onChange({ actor_id })}
        />
        <FilterSelect
          label={t('filter.module')}
          value={filters.module}
          onChange={(value) => onChange({ module: MODULES.find((each) => each === value) })}
          options={MODULES.map((value) => ({ value, label: value }))}
        />
        <FilterSelect
          label={t('filter.outcome')}
          value={filters.outcome}
          onChange={(value) => onChange({ outcome: OUTCOMES.find((each) => each === value) })}
          options={OUTCOMES.map((value) => ({ value, label: t(`outcomes.${value}`) }))}
        />
        <FilterInstant
          label={t('filter.from')}
          value={filters.from}
          onChange={(from) => onChange({ from })}
        />
        <FilterInstant label={t('filter.to')} value={filters.to} onChange={(to) => onChange({ to })} />
      </Filters>
      <details open={rare !== undefined}>
        <summary className="w-fit text-soft hover:text-ink">{t('filter.more')}</summary>
        <div className="mt-3">
          <Filters>
            <ThingFilter
              value={filters.resource_type}
              onChange={(resource_type) => onChange({ resource_type })}
            />
            {TEXTS.map(text)}
          </Filters>
        </div>
      </details>
    </div>
  );
}
