import { NetworkError, ProblemError } from '@customer-platform/client';
import type { ReactNode } from 'react';
import { useLocale, useMessages, useTranslations, type Messages } from 'use-intl';
import { useProblemTexts } from '../problems/use-problem-texts.ts';
import type { Fault, FieldFault } from './problem-at.ts';

/** Says in a sentence of the page's language why something failed, by its stable code. */
export function useReasonOf(): (error: unknown) => string {
  const t = useTranslations('ui');
  const codeWords = useCodeWords();
  const locale = useLocale();
  return (error) => {
    if (error instanceof NetworkError) return t('offline');
    if (!(error instanceof ProblemError)) return t('failed');
    return codeWords(error.code) ?? (locale === 'en' ? error.title : t('rejected'));
  };
}

/** Says a code of a problem or of a field in words; undefined for one that this release does not know, or not yet. */
function useCodeWords(): (code: string) => string | undefined {
  const texts: Partial<Messages> = useMessages();
  useProblemTexts();
  return (code) => {
    const words: Readonly<Record<string, string>> = { ...texts.problems?.fields, ...texts.problems?.codes };
    return Object.hasOwn(words, code) ? words[code] : undefined;
  };
}

/** Says what is wrong with a field; in another language than English the detail of the API comes second, marked as English. */
export function FaultText({ fault }: { fault: Fault }): ReactNode {
  const codeWords = useCodeWords();
  const locale = useLocale();
  if (typeof fault === 'string') return fault;
  const words = codeWords(fault.code);
  if (locale === 'en') return fault.detail ?? words ?? fault.code;
  if (words === undefined) return <EnglishDetail detail={fault.detail ?? fault.code} />;
  return (
    <>
      {words} <EnglishDetail detail={fault.detail} />
    </>
  );
}

/** Shows what the API says besides, in its own language. */
export function EnglishDetail({ detail }: Pick<FieldFault, 'detail'>): ReactNode {
  if (detail === undefined) return null;
  return <span lang="en">{detail}</span>;
}
