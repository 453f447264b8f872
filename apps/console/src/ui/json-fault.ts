import { useTranslations } from 'use-intl';
import type { ReadJson } from './exact-json.ts';

/** Says which number of a text of JSON cannot be carried exactly, where one cannot. */
export function useInexact(): (read: ReadJson) => string | undefined {
  const t = useTranslations('ui');
  return (read) =>
    'fault' in read && read.fault === 'inexact' ? t('inexact', { number: read.number }) : undefined;
}
