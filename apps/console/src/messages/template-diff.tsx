import type { Schemas } from '@customer-platform/client';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';

type Change = Schemas['TemplateChangeDto'];

const TONES = { added: 'good', removed: 'bad', changed: 'neutral' } as const;

interface TemplateDiffProps {
  changes: readonly Change[];
  /** The level of a field's name: one below what stands above all of them. */
  heading?: 'h3' | 'h4';
}

/** What differs between two versions, field by field. */
export function TemplateDiff({ changes, heading: Heading = 'h4' }: TemplateDiffProps): ReactNode {
  const t = useTranslations('messages');
  if (changes.length === 0) return <p className="text-soft">{t('sameContent')}</p>;
  return changes.map(({ pointer, kind, unified }) => (
    <div key={pointer} className="min-w-0">
      <Heading className="mb-1 flex flex-wrap items-center gap-2 text-xs font-medium">
        <FieldName pointer={pointer} />
        <Badge tone={TONES[kind]}>{t(`changes.${kind}`)}</Badge>
      </Heading>
      {unified === null ? (
        <p className="text-soft">{t('tooDifferent')}</p>
      ) : (
        <pre
          role="region"
          tabIndex={0}
          aria-label={pointer}
          className="max-h-96 overflow-auto rounded-control border border-line bg-ground p-3 font-mono text-xs whitespace-pre-wrap"
        >
          {unified.split('\n').map((line, at) => (
            <Line key={at} line={line} />
          ))}
        </pre>
      )}
    </div>
  ));
}

/** A locale and a part of it in words; of anything else what the API calls it. */
function FieldName({ pointer }: { pointer: string }): ReactNode {
  const t = useTranslations('messages');
  const [, group = '', ...names] = pointer
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const part = names.at(-1) ?? '';
  const named = t.has(`parts.${part}` as 'parts.subject') ? t(`parts.${part}` as 'parts.subject') : part;
  if (group === 'locales') return <span>{[...names.slice(0, -1), named].join(' · ')}</span>;
  if (group === 'layout') return t('layout');
  if (group === 'strict') return t('strict');
  if (group === 'default_locale') return t('defaultLocale');
  if (group !== 'uses') return <code className="font-mono">{[group, ...names].join(' ')}</code>;
  // Of a layout or partial, by its name: of which version its text is, and the text.
  const [used = '', what, locale = ''] = names;
  return (
    <span>
      <bdi>{used}</bdi> · {what === 'version' ? t('version') : [locale, named].join(' · ')}
    </span>
  );
}

/** The sign before a line says what became of it, the colour says it again. */
function Line({ line }: { line: string }): ReactNode {
  if (line.startsWith('+')) return <ins className="block bg-good-soft text-good no-underline">{line}</ins>;
  if (line.startsWith('-')) return <del className="block bg-bad-soft text-bad no-underline">{line}</del>;
  return (
    <span className={line.startsWith('@@') ? 'block text-soft' : 'block'}>{line === '' ? ' ' : line}</span>
  );
}
