import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import { Section } from '../ui/page.tsx';
import { CONTACT, type ObjectDefinition, type ObjectField } from './object.ts';
import { useDefinitions } from './use-objects.ts';

/** The fields of a definition, each with what it takes and how far its index is. */
export function FieldList({ definition }: { definition: ObjectDefinition }): ReactNode {
  const t = useTranslations('objects');
  if (definition.fields.length === 0) return <p className="text-soft">{t('noFields')}</p>;
  return (
    <Section title={t('fields')}>
      <ul className="flex flex-col divide-y divide-line rounded-panel border border-line">
        {definition.fields.map((field) => (
          <li
            key={field.key}
            className={`flex flex-col gap-1 px-3 py-2 ${field.archived ? 'text-soft' : ''}`}
          >
            <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <bdi className="font-medium">{field.label}</bdi>
              <code className="font-mono text-xs text-soft">{field.key}</code>
              <span className="grow" />
              <Flags field={field} />
            </span>
            <span className="text-xs text-soft">
              <Takes field={field} />
            </span>
            <IndexProgress field={field} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Flags({ field }: { field: ObjectField }): ReactNode {
  const t = useTranslations('objects');
  return (
    <>
      {field.archived && <Badge>{t('archived')}</Badge>}
      {field.required && <Badge>{t('required')}</Badge>}
      {field.unique && <Badge>{t('unique')}</Badge>}
      {field.index_state === 'ready' && <Badge tone="good">{t('hasIndex')}</Badge>}
      {field.index_state === 'building' && <Badge tone="warn">{t('indexBuilding')}</Badge>}
    </>
  );
}

/** What of its type it takes. */
function Takes({ field }: { field: ObjectField }): ReactNode {
  const t = useTranslations('objects');
  const format = useFormatter();
  const definitions = useDefinitions();
  const type = t(`types.${field.type}`);
  const bound = (value: number | null | undefined): string =>
    value === null || value === undefined ? '…' : format.number(value, { useGrouping: false });
  switch (field.type) {
    case 'string':
      return t('takesText', { type, most: field.max_length ?? 0 });
    case 'integer':
    case 'number':
      return field.min == null && field.max == null
        ? type
        : `${type} · ${bound(field.min)} – ${bound(field.max)}`;
    case 'enum':
      return `${type} · ${(field.options ?? []).map(({ label }) => label).join(', ')}`;
    case 'reference': {
      const target = definitions.data?.find(({ id }) => id === field.target)?.name ?? field.target;
      if (field.target !== CONTACT) return t('refersTo', { target: target ?? '' });
      return t(field.on_erasure === 'clear' ? 'refersClearing' : 'refersDeleting');
    }
    case 'boolean':
    case 'date':
    case 'datetime':
      return type;
  }
}

function IndexProgress({ field }: { field: ObjectField }): ReactNode {
  const t = useTranslations('objects');
  const progress = field.index_progress;
  if (field.index_state !== 'building' || progress === undefined) return null;
  const share = progress.processed / Math.max(1, progress.total);
  return (
    <span className="flex items-center gap-2 text-xs text-soft">
      <span aria-hidden className="h-1.5 grow overflow-hidden rounded-full bg-hover">
        <span className="block h-full bg-accent" style={{ width: `${String(share * 100)}%` }} />
      </span>
      {t('indexProgress', progress)}
    </span>
  );
}
