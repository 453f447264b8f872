import { createHash } from 'node:crypto';
import type { ShownSubscription } from './unsubscribe.service.js';

interface Words {
  readonly title: string;
  readonly all: string;
  readonly topic: (name: string) => string;
  readonly button: string;
  readonly doneTitle: string;
  readonly done: string;
  readonly faultTitle: string;
  readonly fault: string;
  readonly laterTitle: string;
  readonly later: string;
}

/** What the page says, by language; the first is for everybody else. */
const WORDS: Readonly<Record<string, Words>> = {
  en: {
    title: 'Unsubscribe',
    all: 'You will get no more marketing messages from us here.',
    topic: (name) => `You will get no more messages about “${name}” here.`,
    button: 'Unsubscribe',
    doneTitle: 'You are unsubscribed',
    done: 'It took effect at once. You can close this page.',
    faultTitle: 'This link does not work',
    fault:
      'It is not whole, or it has been altered. Open the newest message and follow its link again, or answer that message and ask to be taken off.',
    laterTitle: 'That did not work just now',
    later: 'The fault is on our side. Please open the link again in a few minutes; nothing has been changed.',
  },
  es: {
    title: 'Cancelar suscripción',
    all: 'Ya no recibirás mensajes promocionales nuestros por este medio.',
    topic: (name) => `Ya no recibirás mensajes sobre «${name}» por este medio.`,
    button: 'Cancelar suscripción',
    doneTitle: 'Suscripción cancelada',
    done: 'Ya es efectivo. Puedes cerrar esta página.',
    faultTitle: 'Este enlace no funciona',
    fault:
      'Está incompleto o fue modificado. Abre el mensaje más reciente y sigue su enlace, o responde ese mensaje y pide que te den de baja.',
    laterTitle: 'No se pudo en este momento',
    later: 'El problema es nuestro. Vuelve a abrir el enlace en unos minutos; nada ha cambiado.',
  },
  pt: {
    title: 'Cancelar inscrição',
    all: 'Você não receberá mais mensagens promocionais nossas por este canal.',
    topic: (name) => `Você não receberá mais mensagens sobre “${name}” por este canal.`,
    button: 'Cancelar inscrição',
    doneTitle: 'Inscrição cancelada',
    done: 'Já está em vigor. Você pode fechar esta página.',
    faultTitle: 'Este link não funciona',
    fault:
      'Ele está incompleto ou foi alterado. Abra a mensagem mais recente e siga o link dela, ou responda a essa mensagem e peça para sair da lista.',
    laterTitle: 'Não foi possível agora',
    later: 'O problema é nosso. Abra o link de novo em alguns minutos; nada foi alterado.',
  },
};

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; font: 18px/1.5 system-ui, sans-serif; background: #fff; color: #1a1a1a; }
main { box-sizing: border-box; max-width: 34rem; margin: 0 auto; padding: 12vh 1.25rem 2rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .75rem; }
p { margin: 0 0 1.5rem; }
button { font: inherit; font-weight: 600; min-height: 48px; padding: .6rem 1.4rem; border: 0; border-radius: 8px;
  background: #14532d; color: #fff; cursor: pointer; }
button:hover { background: #166534; }
button:focus-visible { outline: 3px solid #2563eb; outline-offset: 3px; }
@media (prefers-color-scheme: dark) {
  body { background: #111; color: #eee; }
  button { background: #bbf7d0; color: #052e16; }
  button:hover { background: #dcfce7; }
}`;

/** No script, nothing from elsewhere, in nobody's frame; the one form leads back here. The address holds the token. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
};

/** The form: what would end, and the one button that ends it. */
export function unsubscribePage(shown: ShownSubscription, token: string, acceptLanguage?: string): string {
  const { lang, words } = wordsFor(acceptLanguage);
  const text = shown.topicName === null ? words.all : words.topic(shown.topicName);
  const form = `<form method="post" action="?">
<input type="hidden" name="token" value="${escape(token)}">
<button type="submit">${words.button}</button>
</form>`;
  return page(lang, words.title, `<p>${escape(text)}</p>\n${form}`);
}

/** After it. */
export function unsubscribedPage(acceptLanguage?: string): string {
  const { lang, words } = wordsFor(acceptLanguage);
  return page(lang, words.doneTitle, `<p role="status">${words.done}</p>`);
}

/** Says in place of the form, or of the end, that the link is not right or that the platform is away. */
export function unsubscribeFaultPage(fault: 'link' | 'later', acceptLanguage?: string): string {
  const { lang, words } = wordsFor(acceptLanguage);
  return fault === 'link'
    ? page(lang, words.faultTitle, `<p role="alert">${words.fault}</p>`)
    : page(lang, words.laterTitle, `<p role="alert">${words.later}</p>`);
}

function page(lang: string, title: string, body: string): string {
  return `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

/** The first language of the header that the page speaks; order stands for weight, as browsers send it. */
function wordsFor(acceptLanguage = ''): { lang: string; words: Words } {
  const wanted = acceptLanguage.split(',').map((part) => part.trim().slice(0, 2).toLowerCase());
  const lang = wanted.find((one) => Object.hasOwn(WORDS, one)) ?? 'en';
  return { lang, words: (WORDS[lang] ?? WORDS['en']) as Words };
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}
