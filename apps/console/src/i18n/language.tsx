import { useQuery } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { IntlProvider } from 'use-intl';
import { messagesOf, type Language } from './messages.ts';

/** Where among what was read the texts of a language are kept; they are nobody's. */
export const TEXTS = 'texts';

/** Shows what is inside in a language; nothing until its texts are there. */
export function Speaking({ language, children }: { language: Language; children: ReactNode }): ReactNode {
  const { data, isError } = useQuery({
    queryKey: [TEXTS, language],
    queryFn: () => messagesOf(language),
    staleTime: Infinity,
    gcTime: Infinity,
  });
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  if (isError) return <Wordless />;
  if (data === undefined) return null;
  return (
    <IntlProvider locale={language === 'en' ? 'en' : 'es-CL'} messages={data} timeZone={VIEWER_ZONE}>
      {children}
    </IntlProvider>
  );
}

/** For when the files of texts did not come. */
const BUILT_IN = {
  es: 'La Console no se pudo cargar.',
  en: 'The Console could not be loaded.',
  reload: 'Recargar · Reload',
};

/** The texts themselves did not come: said in both languages. */
function Wordless(): ReactNode {
  return (
    <main className="mx-auto flex max-w-md flex-col items-start gap-4 px-4 py-24">
      <p lang="es">{BUILT_IN.es}</p>
      <p lang="en">{BUILT_IN.en}</p>
      <button
        type="button"
        className="control border border-edge px-3"
        onClick={() => window.location.reload()}
      >
        {BUILT_IN.reload}
      </button>
    </main>
  );
}

/** The zone of whoever looks. */
export const VIEWER_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;
