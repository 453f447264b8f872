import type { Messages } from 'use-intl';

/** The languages of the Console. */
export const LANGUAGES = ['es', 'en'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The texts that are here, of each language. Each folder's come with the first file that shows some of them. */
const HERE: Record<Language, Partial<Messages>> = { es: {}, en: {} };

/** Makes the texts of a folder known: what vite.config.ts puts before every file that shows them. */
export function bringTexts<F extends keyof Messages>(
  folder: F,
  texts: Readonly<Record<Language, Messages[F]>>,
): void {
  for (const language of LANGUAGES) HERE[language][folder] = texts[language];
}

/** The texts of one language, always the same object: what comes later is in it as well. */
export function messagesOf(language: Language): Messages {
  return HERE[language] as Messages;
}
