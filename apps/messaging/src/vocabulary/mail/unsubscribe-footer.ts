/** The words of the link, by language. */
const WORDS: Readonly<Record<string, string>> = {
  en: 'Unsubscribe',
  es: 'Cancelar suscripción',
  pt: 'Cancelar inscrição',
  fr: 'Se désabonner',
  de: 'Abmelden',
  it: 'Annulla iscrizione',
};

/** Rendered parts of a mail. */
interface Parts {
  readonly html?: string | undefined;
  readonly text: string;
}

/**
 * Marketing mail always shows the way out of it (messaging.md §11): where the author's text has no link of its own, one
 * is added at the end of each part.
 */
export function withUnsubscribeLink(parts: Parts, url: string, locale: string | null): Parts {
  const word = WORDS[(locale ?? '').slice(0, 2).toLowerCase()] ?? 'Unsubscribe';
  const { html, text } = parts;
  return {
    ...(html === undefined ? {} : { html: html.includes(url) ? html : linkInHtml(html, url, word) }),
    text: text.includes(url) ? text : `${text.trimEnd()}\n\n${word}: ${url}\n`,
  };
}

function linkInHtml(html: string, url: string, word: string): string {
  const link = `<p style="margin:24px 0;font-size:12px;text-align:center"><a href="${url}">${word}</a></p>`;
  // Sought in the text itself: lowered, some letters (İ) are two, and the place would be another.
  const end = [...html.matchAll(/<\/body\s*>/gi)].at(-1)?.index;
  return end === undefined ? `${html}\n${link}` : `${html.slice(0, end)}${link}\n${html.slice(end)}`;
}
