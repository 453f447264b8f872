import { letter } from './letter.js';
import type { RoutableEvent } from '../routing/rule.js';

/** A template that every organization begins with, and the events that it answers. */
export interface IdentityTemplate {
  readonly name: string;
  readonly locales: Readonly<Record<string, { subject: string; html: string; text: string }>>;
  /** A rule each, by name. */
  readonly rules: Readonly<Record<string, RoutableEvent>>;
}

const OF_ORGANIZATION = {
  en: `{{ event.organization_name | default: 'the organization' }}`,
  es: `{{ event.organization_name | default: 'la organización' }}`,
};
const UNTIL = {
  en: `{% if event.expires_at %} and until {{ event.expires_at | date: '%-d %B %Y, %H:%M' }} UTC{% endif %}`,
  es: `{% if event.expires_at %} y hasta el {{ event.expires_at | date: '%d/%m/%Y, %H:%M' }} UTC{% endif %}`,
};

/** In which language what names none is written. */
export const IDENTITY_TEMPLATES_DEFAULT_LOCALE = 'en';

/** The mails of identity as an organization first has them; they are its own to change. */
export const IDENTITY_TEMPLATES: readonly IdentityTemplate[] = [
  {
    name: 'Invitation',
    locales: {
      en: letter('en', {
        subject: `You are invited to ${OF_ORGANIZATION.en}`,
        title: `Join ${OF_ORGANIZATION.en}`,
        paragraphs: [
          `You have been invited to work with ${OF_ORGANIZATION.en} on the Customer Platform.`,
          `The button opens your invitation. It works once${UNTIL.en}.`,
        ],
        button: 'Accept the invitation',
        instead: 'If the button does not work, open this address:',
        closing:
          'If you did not expect this, you need not do anything: without your consent nothing happens.',
      }),
      es: letter('es', {
        subject: `Te invitaron a ${OF_ORGANIZATION.es}`,
        title: `Únete a ${OF_ORGANIZATION.es}`,
        paragraphs: [
          `Recibiste una invitación para trabajar con ${OF_ORGANIZATION.es} en Customer Platform.`,
          `El botón abre tu invitación. Sirve una sola vez${UNTIL.es}.`,
        ],
        button: 'Aceptar la invitación',
        instead: 'Si el botón no funciona, abre esta dirección:',
        closing: 'Si no la esperabas, no tienes que hacer nada: sin tu consentimiento no pasa nada.',
      }),
    },
    rules: {
      Invitation: 'identity.invitation.created',
      'Invitation sent again': 'identity.invitation.resent',
    },
  },
  {
    name: 'Password reset',
    locales: {
      en: letter('en', {
        subject: 'Choose a new password',
        title: 'Choose a new password',
        paragraphs: [
          `Somebody, we hope you, asked for a new password for your account at ${OF_ORGANIZATION.en}.`,
          `The button lets you choose one. It works once${UNTIL.en}.`,
        ],
        button: 'Choose a password',
        instead: 'If the button does not work, open this address:',
        closing: 'If it was not you, ignore this mail: your password stays as it is.',
      }),
      es: letter('es', {
        subject: 'Elige una contraseña nueva',
        title: 'Elige una contraseña nueva',
        paragraphs: [
          `Alguien, esperamos que tú, pidió una contraseña nueva para tu cuenta en ${OF_ORGANIZATION.es}.`,
          `El botón te permite elegirla. Sirve una sola vez${UNTIL.es}.`,
        ],
        button: 'Elegir una contraseña',
        instead: 'Si el botón no funciona, abre esta dirección:',
        closing: 'Si no fuiste tú, ignora este correo: tu contraseña sigue siendo la misma.',
      }),
    },
    rules: { 'Password reset': 'identity.password.reset_requested' },
  },
];
