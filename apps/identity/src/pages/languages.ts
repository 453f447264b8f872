import { ENGLISH, type PageMessages } from './messages.en.js';
import { SPANISH } from './messages.es.js';

/** The languages that the pages speak. */
export type Language = 'en' | 'es';

const MESSAGES: Readonly<Record<Language, PageMessages>> = { en: ENGLISH, es: SPANISH };

/** What the pages say in a language. */
export function messagesOf(language: Language): PageMessages {
  return MESSAGES[language];
}

/**
 * The first language asked for that the pages speak: those of the request for authorization (`ui_locales`, by spaces),
 * then the browser's. Order stands for weight, as browsers send it. English for everybody else.
 */
export function languageOf(uiLocales: unknown, acceptLanguage: string | undefined): Language {
  const asked = typeof uiLocales === 'string' ? uiLocales.slice(0, 200).split(' ') : [];
  const wanted = [...asked, ...(acceptLanguage ?? '').slice(0, 500).split(',')];
  for (const tag of wanted) {
    const [language = ''] = tag.trim().toLowerCase().split(/[-;]/);
    if (language === 'es' || language === 'en') return language;
  }
  return 'en';
}
