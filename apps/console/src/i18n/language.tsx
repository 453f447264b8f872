import { useQuery } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { IntlProvider } from 'use-intl';
import { messagesOf, type Language } from './messages.ts';

/** Shows what is inside in a language; nothing until its texts are there. */
export function Speaking({ language, children }: { language: Language; children: ReactNode }): ReactNode {
  const { data } = useQuery({
    queryKey: ['texts', language],
    queryFn: () => messagesOf(language),
    staleTime: Infinity,
    gcTime: Infinity,
  });
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  if (data === undefined) return null;
  return (
    <IntlProvider locale={language === 'en' ? 'en' : 'es-CL'} messages={data} timeZone={VIEWER_ZONE}>
      {children}
    </IntlProvider>
  );
}

/** The zone of whoever looks. */
export const VIEWER_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;
