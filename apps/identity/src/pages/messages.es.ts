import { apiScope } from '../vocabulary/api-scopes.js';
import { html } from './html.js';
import type { PageMessages } from './messages.en.js';

const MODULES: Readonly<Record<string, string>> = {
  core: 'contactos, eventos y segmentos',
  crm: 'notas, actividades y registros',
  identity: 'personas, roles y configuración',
  loyalty: 'puntos y sus reglas',
  messaging: 'mensajes, plantillas y campañas',
};

/** Spanish as it is written in Chile. */
export const SPANISH: PageMessages = {
  continue: 'Continuar',
  back: 'Volver',
  cancel: 'Cancelar',
  goOn: (application) => html`Para continuar a ${application}`,
  signIn: {
    title: 'Iniciar sesión',
    lead: (application) => html`para continuar a ${application}`,
    email: 'Correo electrónico',
    password: 'Contraseña',
    submit: 'Iniciar sesión',
    otherEmail: 'Usar otro correo',
    forgotten: '¿Olvidaste tu contraseña?',
    badEmail: 'Escribe tu correo electrónico, por ejemplo ana@example.com.',
    wrong: 'El correo o la contraseña no son correctos.',
    wrongOrSso:
      'El correo o la contraseña no son correctos, o tu organización pide iniciar sesión con su propia cuenta (SSO).',
    locked:
      'Demasiadas contraseñas incorrectas. Espera un cuarto de hora o define una nueva: con ella puedes entrar aquí de inmediato.',
    anew: 'Lo que ingresaste antes ya no cuenta: se acabó el plazo o algo cambió en tu cuenta. Inicia sesión otra vez.',
  },
  sso: {
    title: 'Iniciar sesión con SSO',
    lead: 'Tu organización inicia tu sesión con su propia cuenta.',
    leadEnforced:
      'Tu organización pide iniciar sesión con su propia cuenta. Solo sus propietarios con segundo factor pueden usar una contraseña si aquella no está disponible.',
    submit: 'Continuar con SSO',
    password: 'Usar una contraseña',
    passwordEnforced: 'Soy propietario o voy a otra organización: usar mi contraseña',
  },
  factor: {
    title: 'Segundo paso',
    lead: 'Abre tu aplicación de autenticación y escribe el código que muestra.',
    code: 'Código de 6 dígitos',
    submit: 'Verificar',
    useRecovery: 'Usar un código de recuperación',
    wrong: 'El código no es correcto o ya fue usado.',
  },
  recovery: {
    title: 'Código de recuperación',
    lead: 'Escribe uno de los códigos de recuperación que guardaste. Cada uno sirve una vez.',
    code: 'Código de recuperación',
    useApp: 'Usar la aplicación de autenticación',
  },
  enrol: {
    title: 'Configura tu segundo paso',
    lead: (organization) =>
      html`${organization} exige un segundo factor. Escanea este código con una aplicación de autenticación y
      luego escribe el código que muestra.`,
    elsewhere: (organization) =>
      html`${organization} exige un segundo factor. También eres parte de otras organizaciones y un segundo
      factor vale en todas, así que se configura después de ingresar con tu contraseña. Si ${organization} no
      acepta contraseñas, ingresa con ella a otra de tus organizaciones, configura el factor en tu cuenta y
      vuelve a ingresar aquí.`,
    qr: 'Código QR para la aplicación de autenticación',
    byHand: 'Si no puedes escanearlo, escribe esta clave en la aplicación:',
    code: 'Código de 6 dígitos',
    hint: 'Tienes diez minutos; después se crea otra clave. Tus demás sesiones terminan.',
    submit: 'Confirmar',
  },
  codes: {
    title: 'Guarda tus códigos de recuperación',
    lead: 'Si pierdes el teléfono, cada uno te permite entrar una vez. Guárdalos donde guardas tus contraseñas: no se vuelven a mostrar.',
    submit: 'Ya los guardé',
  },
  organization: {
    title: 'Elige una organización',
    lead: (application) => html`Trabajarás en ella al continuar a ${application}.`,
    search: 'El nombre comienza con',
    find: 'Buscar',
    none: 'Ninguna de tus organizaciones comienza así.',
    first: (count) => `Estas son las primeras ${String(count)}. Busca para ver otras.`,
  },
  invitation: {
    title: '¿Aceptar la invitación?',
    lead: (organization, email) => html`Te unes a ${organization} como ${email}.`,
    join: 'Unirme',
    noneTitle: 'Aquí no hay una invitación para ti',
    none: (email) =>
      html`Iniciaste sesión como ${email}. La invitación se envió a otro correo, ya se usó o venció: inicia
      sesión con el correo al que llegó o pide una nueva a quien te invitó.`,
  },
  consent: {
    title: (application) => html`¿Permitir ${application}?`,
    plainTitle: '¿Permitir el acceso?',
    lead: (application, organization) => html`${application}, de ${organization}, pide:`,
    acts: (organization) => html`actuar como tú en ${organization}, con todo lo que puedes hacer ahí`,
    actsOnly: (organization, scope) => {
      const { module, kind } = apiScope(scope);
      const what = module === undefined ? 'todo' : (MODULES[module] ?? module);
      return kind === 'read'
        ? html`leer ${what} en ${organization}, hasta donde tú puedes`
        : html`cambiar ${what} en ${organization}, hasta donde tú puedes`;
    },
    scopes: {
      openid: 'saber quién eres',
      profile: 'ver tu nombre y tu idioma',
      email: 'ver tu correo electrónico',
      organization: 'ver tus organizaciones a las que atiende, y lo que puedes hacer en esta',
      offline_access: 'mantener tu sesión mientras no estás',
    },
    other: (scope) => html`usar ${scope}`,
    host: (host) => html`Continuarás a ${host}.`,
    allow: 'Permitir',
    deny: 'No permitir',
  },
  reset: {
    title: 'Restablecer tu contraseña',
    lead: 'Te enviaremos un enlace para definir una nueva.',
    submit: 'Enviar el enlace',
    sentTitle: 'Revisa tu correo',
    sent: 'Si existe una cuenta con esa dirección, el enlace va en camino. Sirve una vez, durante una hora.',
    newTitle: 'Define una contraseña nueva',
    newLead: 'Al menos 15 caracteres; lo mejor son algunas palabras que puedas recordar.',
    password: 'Contraseña nueva',
    repeat: 'La misma otra vez',
    save: 'Guardar la contraseña',
    differs: 'Las dos contraseñas no son iguales.',
    length: 'La contraseña debe tener entre 15 y 128 caracteres.',
    common: 'Esa contraseña es muy fácil de adivinar. Elige otra.',
    doneTitle: 'Tu contraseña quedó guardada',
    done: 'Todas tus sesiones terminaron. Vuelve a la aplicación e inicia sesión con ella.',
    dead: 'Este enlace ya fue usado o su plazo terminó.',
    again: 'Pedir otro enlace',
  },
  signedOut: { title: 'Cerraste tu sesión', body: 'Puedes cerrar esta página.' },
  signOut: {
    title: '¿Cerrar sesión?',
    lead: 'Tendrás que iniciar sesión otra vez.',
    submit: 'Cerrar sesión',
    stay: 'Seguir con la sesión iniciada',
  },
  leaving: { title: 'Un momento', body: 'Si no pasa nada, continúa tú.' },
  error: {
    title: 'No funcionó',
    expiredTitle: 'Esta página ya no sirve',
    expired:
      'Lo que hacías aquí terminó o se empezó en otra parte. Inicia sesión otra vez, desde aquí o desde tu aplicación.',
    manyTitle: 'Demasiados intentos',
    many: 'Espera un cuarto de hora y vuelve a intentarlo.',
    busy: 'Muchas personas están iniciando sesión. Inténtalo de nuevo en unos segundos.',
    forged: 'El formulario no es de aquí o ya habías avanzado. Continúa desde aquí.',
    unreadable: 'No se pudo leer el formulario. Continúa desde aquí y llénalo otra vez.',
    unavailable: 'No podemos responder en este momento. Inténtalo pronto.',
    ssoRefused:
      'No se aceptó el inicio de sesión de tu organización. Empieza de nuevo o muestra la referencia a quien la administra.',
    ssoUnavailable: 'El inicio de sesión de tu organización no responde. Inténtalo pronto.',
    ssoNoAccount:
      'Aquí no hay una cuenta que puedas usar. Pide a quien administra tu organización que te invite.',
    ssoWrongAddress:
      'Tu organización no confirma un correo suyo para la cuenta con la que entraste allí. Cierra allí tu sesión y usa otra cuenta, o muestra la referencia a quien la administra.',
    ssoNotFresh:
      'La aplicación pide que hayas entrado recién en tu organización, y tu organización no lo confirma. Cierra allí tu sesión y empieza de nuevo; si sigue así, muestra la referencia a quien la administra.',
    internal: 'Algo falló de nuestro lado. Inténtalo de nuevo; si sigue así, cuéntanos la referencia.',
    again: 'Empezar de nuevo',
    console: 'Abrir la Consola',
    protocol:
      'La aplicación que te envió no lo pidió como debía. Vuelve a ella e inténtalo de nuevo; si sigue así, muestra la referencia a quien la administra.',
    reference: (id) => html`Referencia: ${id}`,
  },
};
