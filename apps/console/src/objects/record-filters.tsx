import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useLocale, useTranslations } from 'use-intl';
import { DeletedFilter, useChangeOf } from '../ui/list-page.tsx';
import { Filters, FilterInstant, FilterSelect, SearchField } from '../ui/filters.tsx';
import { readNumber, writeNumber } from '../ui/number-text.ts';
import { filterFields, type ObjectDefinition, type ObjectField } from './object.ts';
import { valueFiltersIn } from './value-filters.ts';

const recordsRoute = getRouteApi('/o/$organization/objects/$definition');
const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i;
const BOUNDS = ['gte', 'lte'] as const;

/** By the fields that are indexed, and no others: what the API filters by. */
export function RecordFilters({ definition }: { definition: ObjectDefinition }): ReactNode {
  const t = useTranslations('objects');
  return (
    <Filters>
      {filterFields(definition).map((field, at) => (
        <FieldFilter key={field.key} field={field} main={at === 0} />
      ))}
      <DeletedFilter label={t('withDeleted')} />
    </Filters>
  );
}

interface FieldFilterProps {
  field: ObjectField;
  main: boolean;
}

function FieldFilter({ field, main }: FieldFilterProps): ReactNode {
  const t = useTranslations('objects');
  const locale = useLocale();
  const change = useChangeOf<Record<string, string | undefined>>();
  const filters = valueFiltersIn({ ...recordsRoute.useSearch() });
  const name = `values.${field.key}`;
  const set = (filter: string, value: string | undefined): void =>
    change({ [filter]: value === '' ? undefined : value }, true);
  const { label } = field;
  switch (field.type) {
    case 'string':
      return (
        <SearchField
          main={main}
          label={t('beginsWith', { label })}
          value={filters[`${name}[prefix]`] ?? ''}
          onChange={(value) => set(`${name}[prefix]`, value)}
        />
      );
    case 'integer':
    case 'number':
      return BOUNDS.map((op) => (
        <SearchField
          key={op}
          label={t(op, { label })}
          value={writeNumber(filters[`${name}[${op}]`] ?? '', locale)}
          // Before it is a number nothing is asked for.
          onChange={(value) => set(`${name}[${op}]`, readNumber(value, locale)?.toString())}
        />
      ));
    case 'date':
      return BOUNDS.map((op) => (
        <label key={op} className="flex items-center gap-2">
          <span className="text-xs text-soft">{t(op, { label })}</span>
          <input
            type="date"
            className="field w-auto!"
            value={filters[`${name}[${op}]`] ?? ''}
            onChange={({ target }) => set(`${name}[${op}]`, target.value)}
          />
        </label>
      ));
    case 'datetime':
      return BOUNDS.map((op) => (
        <FilterInstant
          key={op}
          label={t(op, { label })}
          value={filters[`${name}[${op}]`]}
          onChange={(value) => set(`${name}[${op}]`, value)}
        />
      ));
    case 'boolean':
    case 'enum':
      return (
        <FilterSelect
          label={label}
          value={filters[name]}
          onChange={(value) => set(name, value)}
          options={
            field.type === 'enum'
              ? (field.options ?? []).map((option) => ({ value: option.value, label: option.label }))
              : [
                  { value: 'true', label: t('yes') },
                  { value: 'false', label: t('no') },
                ]
          }
        />
      );
    case 'reference':
      return (
        <SearchField
          label={t('idOf', { label })}
          value={filters[name] ?? ''}
          onChange={(value) => set(name, ID.test(value.trim()) ? value.trim() : undefined)}
        />
      );
  }
}
