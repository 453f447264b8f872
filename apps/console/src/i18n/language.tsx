import { useEffect, type ReactNode } from 'react';
import { IntlProvider } from 'use-intl';
import { messagesOf, type Language } from './messages.ts';

/** Shows what is inside in a language. */
export function Speaking({ language, children }: { language: Language; children: ReactNode }): ReactNode {
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return (
    <IntlProvider
      locale={language === 'en' ? 'en' : 'es-CL'}
      messages={messagesOf(language)}
      timeZone={VIEWER_ZONE}
    >
      {children}
    </IntlProvider>
  );
}

/** The zone of whoever looks. */
const VIEWER_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;
