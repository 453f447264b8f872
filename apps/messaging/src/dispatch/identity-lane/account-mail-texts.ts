import type { AccountChange } from '../../vocabulary/sends/link-ref.js';
import type { Language, MailTexts } from './render-mail.js';

/** Facts that a mail about a change of an account says beside the change. */
interface AccountFacts {
  /** The name of the organization at which the account is. */
  readonly organization: string;
  /** The time at which it happened, with the word before it; empty where that is not known. */
  readonly when: string;
  /** True where there is a page on which a new password is asked for. */
  readonly leads: boolean;
  /** The names of the factors that it is about; empty where they are not known. */
  readonly names: readonly string[];
}

/** A change: its subject, and the sentence that says so. */
interface Change {
  readonly subject: string;
  /** The subject where it is about several. */
  readonly subjectOfSeveral?: string;
  readonly happened: (facts: AccountFacts) => string;
}

const CHANGES: Readonly<Record<Language, Readonly<Record<AccountChange, Change>>>> = {
  en: {
    password_changed: {
      subject: 'Your password was changed',
      happened: ({ organization, when }) =>
        `The password of your account at ${organization} was changed${when}. Whoever was signed in elsewhere is signed out.`,
    },
    factor_confirmed: {
      subject: 'A second factor was added to your account',
      happened: ({ organization, when }) =>
        `A second factor, an app that makes codes, was added to your account at ${organization}${when}. It is asked for whenever you sign in.`,
    },
    factor_removed: {
      subject: 'A second factor was removed from your account',
      subjectOfSeveral: 'Your second factors were removed from your account',
      happened: ({ organization, when, names }) =>
        names.length > 1
          ? `${String(names.length)} second factors, apps that make codes, were removed from your account at ${organization}${when}: ${listed('en', names)}. They are not asked for any more.`
          : `A second factor, an app that makes codes, was removed from your account at ${organization}${when}${called(names)}. It is not asked for any more.`,
    },
    recovery_code_used: {
      subject: 'A recovery code of your account was used',
      happened: ({ organization, when }) =>
        `A recovery code was used in place of a second factor for your account at ${organization}${when}. It works once and is of no use any more.`,
    },
    recovery_codes_replaced: {
      subject: 'Your account has new recovery codes',
      happened: ({ organization, when }) =>
        `New recovery codes were made for your account at ${organization}${when}. Those of before are of no use any more.`,
    },
  },
  es: {
    password_changed: {
      subject: 'Tu contraseña cambió',
      happened: ({ organization, when }) =>
        `La contraseña de tu cuenta en ${organization} se cambió${when}. Las demás sesiones abiertas se cerraron.`,
    },
    factor_confirmed: {
      subject: 'Se agregó un segundo factor a tu cuenta',
      happened: ({ organization, when }) =>
        `Se agregó un segundo factor, una aplicación que genera códigos, a tu cuenta en ${organization}${when}. Se te pedirá cada vez que ingreses.`,
    },
    factor_removed: {
      subject: 'Se quitó un segundo factor de tu cuenta',
      subjectOfSeveral: 'Se quitaron los segundos factores de tu cuenta',
      happened: ({ organization, when, names }) =>
        names.length > 1
          ? `Se quitaron ${String(names.length)} segundos factores, aplicaciones que generan códigos, de tu cuenta en ${organization}${when}: ${listed('es', names)}. Ya no se te pedirán.`
          : `Se quitó un segundo factor, una aplicación que genera códigos, de tu cuenta en ${organization}${when}${called(names)}. Ya no se te pedirá.`,
    },
    recovery_code_used: {
      subject: 'Se usó un código de recuperación de tu cuenta',
      happened: ({ organization, when }) =>
        `Se usó un código de recuperación en lugar de un segundo factor para tu cuenta en ${organization}${when}. Servía una sola vez y ya no sirve.`,
    },
    recovery_codes_replaced: {
      subject: 'Tu cuenta tiene códigos de recuperación nuevos',
      happened: ({ organization, when }) =>
        `Se crearon códigos de recuperación nuevos para tu cuenta en ${organization}${when}. Los anteriores ya no sirven.`,
    },
  },
};

const ADVICE: Readonly<Record<Language, (facts: AccountFacts) => Omit<MailTexts, 'subject' | 'title'>>> = {
  en: ({ organization, leads }) => ({
    paragraphs: [
      'If it was you, or you had asked for it, you need not do anything.',
      leads
        ? `If it was not you, ask for a new password at once: choosing it signs everybody out. Tell whoever administers ${organization}, too.`
        : `If it was not you, tell whoever administers ${organization} at once.`,
    ],
    button: 'Ask for a new password',
    instead: 'If the button does not work, open this address:',
    closing: 'No setting turns this mail off.',
  }),
  es: ({ organization, leads }) => ({
    paragraphs: [
      'Si fuiste tú, o lo habías pedido, no tienes que hacer nada.',
      leads
        ? `Si no fuiste tú, pide de inmediato una contraseña nueva: al elegirla se cierran todas las sesiones. Avisa también a quien administra ${organization}.`
        : `Si no fuiste tú, avisa de inmediato a quien administra ${organization}.`,
    ],
    button: 'Pedir una contraseña nueva',
    instead: 'Si el botón no funciona, abre esta dirección:',
    closing: 'Ningún ajuste desactiva este correo.',
  }),
};

/** Tells a person what has become of the ways by which they sign in, and what to do where they did not do it. */
export function accountMailTexts(kind: AccountChange, language: Language, facts: AccountFacts): MailTexts {
  const { subject: ofOne, subjectOfSeveral = ofOne, happened } = CHANGES[language][kind];
  const subject = facts.names.length > 1 ? subjectOfSeveral : ofOne;
  const { paragraphs, ...rest } = ADVICE[language](facts);
  return { subject, title: subject, paragraphs: [happened(facts), ...paragraphs], ...rest };
}

function called(names: readonly string[]): string {
  return names.map((name) => `: “${name}”`).join('');
}

function listed(language: Language, names: readonly string[]): string {
  return new Intl.ListFormat(language).format(names.map((name) => `“${name}”`));
}
