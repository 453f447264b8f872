import { accountMailTexts } from './account-mail-texts.js';
import type { AccountChange, LinkKind } from '../../vocabulary/sends/link-ref.js';
import { renderMail, type Language, type RenderedMail, type MailTexts } from './render-mail.js';

/** Subject of a mail: a link, that there is none, or why one comes that nobody asked for. */
type MailKind = Exclude<LinkKind, 'account'> | 'single_sign_on' | 'wrong_passwords';

/** Texts of a mail of identity's. */
export interface MailFacts {
  readonly kind: MailKind | AccountChange;
  /** What the person or the organization asked for; cut to the languages there are. */
  readonly locale: string | null;
  readonly organizationName: string;
  /** The link of the mail; null for one that only says something. */
  readonly link: string | null;
  readonly expiresAt: Date | null;
  /** The time of a change of an account. */
  readonly at?: Date;
  /** The name that its user gave to what it is about. */
  readonly names?: readonly string[];
}

type Write = (organization: string, until: string) => MailTexts;

/** In which language what names none of ours is written. */
const DEFAULT_LANGUAGE = 'en';

const MAILS: Readonly<Record<MailKind, Readonly<Record<Language, Write>>>> = {
  invitation: {
    en: (organization, until) => ({
      subject: `You are invited to ${organization}`,
      title: `Join ${organization}`,
      paragraphs: [
        `You have been invited to work with ${organization} on the Customer Platform.`,
        `The button opens your invitation. It works once${until}.`,
      ],
      button: 'Accept the invitation',
      instead: 'If the button does not work, open this address:',
      closing: 'If you did not expect this, you need not do anything: without your consent nothing happens.',
    }),
    es: (organization, until) => ({
      subject: `Te invitaron a ${organization}`,
      title: `Únete a ${organization}`,
      paragraphs: [
        `Recibiste una invitación para trabajar con ${organization} en Customer Platform.`,
        `El botón abre tu invitación. Sirve una sola vez${until}.`,
      ],
      button: 'Aceptar la invitación',
      instead: 'Si el botón no funciona, abre esta dirección:',
      closing: 'Si no la esperabas, no tienes que hacer nada: sin tu consentimiento no pasa nada.',
    }),
  },
  password_reset: {
    en: (organization, until) => ({
      subject: 'Choose a new password',
      title: 'Choose a new password',
      paragraphs: [
        `Somebody, we hope you, asked for a new password for your account at ${organization}.`,
        `The button lets you choose one. It works once${until}.`,
      ],
      button: 'Choose a password',
      instead: 'If the button does not work, open this address:',
      closing: 'If it was not you, ignore this mail: your password stays as it is.',
    }),
    es: (organization, until) => ({
      subject: 'Elige una contraseña nueva',
      title: 'Elige una contraseña nueva',
      paragraphs: [
        `Alguien, esperamos que tú, pidió una contraseña nueva para tu cuenta en ${organization}.`,
        `El botón te permite elegirla. Sirve una sola vez${until}.`,
      ],
      button: 'Elegir una contraseña',
      instead: 'Si el botón no funciona, abre esta dirección:',
      closing: 'Si no fuiste tú, ignora este correo: tu contraseña sigue siendo la misma.',
    }),
  },
  single_sign_on: {
    en: (organization) => ({
      subject: 'You sign in through your organization',
      title: 'You have no password here',
      paragraphs: [
        `Somebody, we hope you, asked for a new password for your account at ${organization}.`,
        'People with your address sign in through their organization’s own sign-in, so there is no password to choose. Whoever runs that sign-in can help you with it.',
      ],
      closing: 'If it was not you, you need not do anything.',
    }),
    es: (organization) => ({
      subject: 'Ingresas a través de tu organización',
      title: 'Aquí no tienes contraseña',
      paragraphs: [
        `Alguien, esperamos que tú, pidió una contraseña nueva para tu cuenta en ${organization}.`,
        'Quienes tienen una dirección como la tuya ingresan con el acceso de su propia organización, así que no hay contraseña que elegir. Quien administra ese acceso puede ayudarte.',
      ],
      closing: 'Si no fuiste tú, no tienes que hacer nada.',
    }),
  },
  wrong_passwords: {
    en: (organization, until) => ({
      subject: 'Somebody tries passwords for your account',
      title: 'Wrong passwords for your account',
      paragraphs: [
        `Somebody entered ten wrong passwords for your account at ${organization}. Nobody came in by them, and for a quarter of an hour nobody can try more from places that we do not know.`,
        'You can go on signing in where you have signed in before.',
        `If it was you, and you have forgotten your password, the button lets you choose a new one, with which you can sign in anywhere at once. It works once${until}.`,
      ],
      button: 'Choose a new password',
      instead: 'If the button does not work, open this address:',
      closing: 'If it was not you, you need not do anything. We write of this once a day at most.',
    }),
    es: (organization, until) => ({
      subject: 'Alguien prueba contraseñas en tu cuenta',
      title: 'Contraseñas incorrectas en tu cuenta',
      paragraphs: [
        `Alguien escribió diez contraseñas incorrectas para tu cuenta en ${organization}. Nadie entró con ellas y, durante un cuarto de hora, nadie puede probar más desde lugares que no conocemos.`,
        'Puedes seguir ingresando desde donde ya ingresaste antes.',
        `Si fuiste tú y olvidaste tu contraseña, el botón te permite elegir otra, con la que puedes ingresar de inmediato desde cualquier lugar. Sirve una sola vez${until}.`,
      ],
      button: 'Elegir una contraseña nueva',
      instead: 'Si el botón no funciona, abre esta dirección:',
      closing: 'Si no fuiste tú, no tienes que hacer nada. Te escribimos de esto una vez al día como máximo.',
    }),
  },
};

const UNTIL: Readonly<Record<Language, (when: string) => string>> = {
  en: (when) => ` and until ${when} UTC`,
  es: (when) => ` y hasta el ${when} UTC`,
};

const WHEN: Readonly<Record<Language, (when: string) => string>> = {
  en: (when) => ` on ${when} UTC`,
  es: (when) => ` el ${when} UTC`,
};

/** The platform's own mails (identity.md §3): an organization gives its name to them and nothing else. */
export function identityMail(facts: MailFacts): RenderedMail & { readonly locale: Language } {
  const locale = languageOf(facts.locale);
  return { locale, ...renderMail(locale, textsOf(facts, locale), facts.link) };
}

function textsOf(
  { kind, organizationName, link, expiresAt, at, names = [] }: MailFacts,
  locale: Language,
): MailTexts {
  const organization = nameOf(organizationName);
  if (!isMailKind(kind)) {
    const when = at === undefined ? '' : WHEN[locale](dateIn(locale, at));
    const facts = { organization, when, leads: link !== null, names: names.map(nameOf) };
    return accountMailTexts(kind, locale, facts);
  }
  const until = expiresAt === null ? '' : UNTIL[locale](dateIn(locale, expiresAt));
  return MAILS[kind][locale](organization, until);
}

function isMailKind(kind: MailFacts['kind']): kind is MailKind {
  return kind in MAILS;
}

function languageOf(locale: string | null): Language {
  return /^es(?:-|$)/i.test(locale ?? '') ? 'es' : DEFAULT_LANGUAGE;
}

/**
 * One line, no character that turns the text around it, and nothing that a mail program would make a link of: a name is
 * all that an organization, or a user, says in here.
 */
function nameOf(name: string): string {
  return name
    .replaceAll(/[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g, '')
    .replaceAll('://', ' ')
    .replaceAll(/([.\u3002\uff0e\uff61])(?=\S)/g, '$1 ')
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
}

function dateIn(locale: Language, at: Date): string {
  return new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : 'es-CL', {
    timeZone: 'UTC',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(at);
}
