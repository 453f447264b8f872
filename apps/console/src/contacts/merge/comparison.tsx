import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../../ui/badge.tsx';
import { useWords } from '../timeline/words.tsx';
import type { Merge } from './use-merge.ts';

type Side = 'survivor' | 'merged';
type Field = Merge['fields'][number];
const SIDES: readonly Side[] = ['survivor', 'merged'];

interface ComparisonProps {
  fields: readonly Field[];
  onKeep: (field: string, side: Side) => void;
}

/** Field by field what each of the two has, and whose stays. */
export function Comparison({ fields, onKeep }: ComparisonProps): ReactNode {
  const t = useTranslations('contacts');
  return (
    <div role="region" aria-label={t('merge.fields')} tabIndex={0} className="overflow-x-auto">
      <table className="w-full min-w-[32rem] border-separate border-spacing-0">
        <thead>
          <tr className="text-xs text-soft">
            <Head>{t('merge.field')}</Head>
            <Head>{t('merge.survivor')}</Head>
            <Head>{t('merge.merged')}</Head>
          </tr>
        </thead>
        <tbody>
          {fields.map((compared) => (
            <tr key={compared.field}>
              <th scope="row" className="border-b border-line px-3 py-2 font-normal text-soft">
                <FieldName field={compared.field} />
              </th>
              {SIDES.map((side) => (
                <td key={side} className="max-w-[20rem] border-b border-line px-3 py-2">
                  <Choice compared={compared} side={side} onKeep={onKeep} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ChoiceProps {
  compared: Field;
  side: Side;
  onKeep: (field: string, side: Side) => void;
}

function Choice({ compared, side, onKeep }: ChoiceProps): ReactNode {
  const value = compared[side] as unknown;
  const text =
    value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
  return (
    <label className="flex items-start gap-2">
      <input
        type="radio"
        name={compared.field}
        className="mt-0.5 size-4 shrink-0 accent-accent"
        checked={compared.kept === side}
        onChange={() => onKeep(compared.field, side)}
      />
      <span dir="auto" className={compared.kept === side ? 'font-medium' : 'text-soft'}>
        {text}
      </span>
    </label>
  );
}

function FieldName({ field }: { field: string }): ReactNode {
  const t = useTranslations('contacts');
  const key = `fields.${field}` as 'fields.email';
  return t.has(key) ? t(key) : <code className="font-mono text-xs">{field}</code>;
}

function Head({ children }: { children: ReactNode }): ReactNode {
  return (
    <th scope="col" className="border-b border-line px-3 py-2 font-medium">
      {children}
    </th>
  );
}

/** The stricter of two consents stays. */
export function ComparedConsents({ consents }: { consents: Merge['consents'] }): ReactNode {
  const words = useWords();
  const said = (status: string | null): string => (status === null ? '–' : words.consent(status));
  return (
    <ul className="flex flex-col gap-1">
      {consents.map(({ purpose, channel, survivor, merged, result }) => (
        <li key={`${purpose} ${channel ?? ''}`} className="flex flex-wrap items-center gap-2">
          {words.purpose(purpose)} · {words.channel(channel)}: {said(survivor)} + {said(merged)} =
          <Badge>{words.consent(result)}</Badge>
        </li>
      ))}
    </ul>
  );
}
