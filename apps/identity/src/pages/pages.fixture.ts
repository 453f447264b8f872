import { NO_BRANDING } from '../vocabulary/organizations/branding.js';
import type { Frame } from './frame.js';
import { html } from './html.js';
import { messagesOf, type Language } from './languages.js';
import type { Page } from './page.js';
import {
  errorPage,
  newPasswordPage,
  protocolErrorPage,
  resetDeadPage,
  resetDonePage,
  resetRequestPage,
  resetSentPage,
  signedOutPage,
  signOutPage,
  type Failure,
} from './plain-pages.js';
import {
  consentPage,
  emailPage,
  enrolmentPage,
  factorElsewherePage,
  factorPage,
  invitationPage,
  leavingPage,
  notInvitedPage,
  organizationPage,
  passwordPage,
  recoveryCodesPage,
  recoveryPage,
  ssoPage,
} from './sign-in-pages.js';

/** Names as tenants give them who mean no good; each is as long as a name may be. */
export const HOSTILE_NAMES: readonly string[] = [
  '<script>document.title="taken"</script>'.padEnd(80, '<'),
  `"><img src=x onerror=alert(1)>' onfocus='alert(1)'`.padEnd(80, '"'),
  `</title><style>*{display:none}</style>${'&'.repeat(42)}`,
  '\u202Egro.elgoog\u202C \u2067\u05D0\u05D1\u2069'.padEnd(80, '\u202E'),
  'W'.repeat(80),
  '😀'.repeat(40),
];

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const URI = `otpauth://totp/Customer%20Platform:${'ana.rojas%40tienda-del-sur.example'.repeat(4)}?issuer=Customer%20Platform&secret=${SECRET}&algorithm=SHA1&digits=6&period=30`;

/** What all sample pages have in common. */
export function aFrame(language: Language, names: Partial<Frame> = {}): Frame {
  return {
    language,
    application: 'Panel de Tienda del Sur',
    organization: 'Tienda del Sur',
    branding: NO_BRANDING,
    action: '/oauth/interactions/8pxY3nJ0sUqgF5b2',
    token: 'kJ8wYq0mY2v8Jt0q3JQmVZc3QmJ8wYq0mY2v8Jt0q3I',
    ...names,
  };
}

/** Every page, by name. */
export function samplePages(language: Language, frame: Frame = aFrame(language)): Record<string, Page> {
  const email = 'ana.rojas@tienda-del-sur.example';
  const code = '4F9A2C-0B3D5E-6G7H8J-9KMNPQ';
  const choices = Array.from({ length: 30 }, (_, i) => ({
    id: `0195a0f0-0000-7000-8000-${String(i).padStart(12, '0')}`,
    name: HOSTILE_NAMES.includes(frame.organization)
      ? frame.organization
      : `Sucursal ${String(i + 1)} de Tienda del Sur`,
  }));
  const reset = { language, action: '/oauth/password-reset', token: frame.token };
  return {
    email: emailPage(frame, {}),
    'email-wrong': emailPage(frame, { email: 'ana', error: 'Escribe tu correo.', status: 422 }),
    password: passwordPage(frame, { email }),
    'password-wrong': passwordPage(frame, { email, error: 'El correo o la contraseña…', status: 422 }),
    sso: ssoPage(frame, { email, enforced: false }),
    'sso-enforced': ssoPage(frame, { email, enforced: true }),
    factor: factorPage(frame, {}),
    'factor-wrong': factorPage(frame, { error: 'El código no es correcto.', status: 422 }),
    recovery: recoveryPage(frame, {}),
    enrolment: enrolmentPage(frame, { uri: URI, secret: SECRET, asker: frame.organization }),
    'enrolment-elsewhere': factorElsewherePage(frame, { email, asker: frame.organization }),
    'recovery-codes': recoveryCodesPage(frame, Array<string>(10).fill(code)),
    organization: organizationPage(frame, { choices: choices.slice(0, 3), more: false }),
    'organization-many': organizationPage(frame, { choices, more: true }),
    'organization-none': organizationPage(frame, { choices: [], more: false, search: 'Zzz' }),
    invitation: invitationPage(frame, { email, organization: frame.organization }),
    'invitation-none': notInvitedPage(frame, { email }),
    consent: consentPage(frame, {
      scopes: ['openid', 'profile', 'email', 'offline_access', 'reports:read'],
      reach: null,
      host: 'app.socio.example',
      within: frame.organization,
    }),
    'consent-limited': consentPage(frame, {
      scopes: ['openid'],
      reach: ['read', 'core.write'],
      host: 'com.example.app:',
      within: frame.organization,
    }),
    leaving: leavingPage(frame, 'https://app.example/callback?code=abc&state=x&iss=https%3A%2F%2Fid.example'),
    'reset-request': resetRequestPage(reset),
    'reset-sent': resetSentPage(language),
    'reset-new': newPasswordPage(reset, { resetToken: 'pwr_AAAA' }),
    'reset-new-wrong': newPasswordPage(reset, {
      resetToken: 'pwr_AAAA',
      error: 'No son iguales.',
      status: 422,
    }),
    'reset-done': resetDonePage(language),
    'reset-dead': resetDeadPage(language),
    'sign-out': signOutPage(
      language,
      html`<form id="op.logoutForm" method="post" action="/oauth/logout/confirm"></form>`,
      'op.logoutForm',
    ),
    'signed-out': signedOutPage(language),
    'error-protocol': protocolErrorPage(language, 'invalid_request: redirect_uri must be registered <'),
    'error-expired': errorPage(language, 'expired', { status: 404 }),
    'error-many': errorPage(language, 'many', { status: 429, headers: { 'Retry-After': '900' } }),
    'error-sso': errorPage(language, 'ssoWrongAddress', {
      status: 403,
      reference: '0195a0f0-0000-7000-8000-000000000000',
      again: frame.action,
    }),
    'error-internal': errorPage(language, 'internal', {
      status: 500,
      reference: '7b9f0c1e-7f0a-4d4e-8a53-000000000001',
    }),
  };
}

/** A failure that is not here does not compile. */
const FAILURES: Readonly<Record<Failure, true>> = {
  expired: true,
  many: true,
  busy: true,
  forged: true,
  unreadable: true,
  unavailable: true,
  ssoRefused: true,
  ssoUnavailable: true,
  ssoNoAccount: true,
  ssoWrongAddress: true,
  ssoNotFresh: true,
  internal: true,
};

/** Each that says no, by name: with the way back to a sign-in that is under way, and without one. */
export function refusals(language: Language): Record<string, Page> {
  const { signIn, factor, reset } = messagesOf(language);
  const frame = aFrame(language);
  const plain = { language, action: '/oauth/password-reset', token: frame.token };
  const reference = '0195a0f0-0000-7000-8000-000000000000';
  const email = 'ana.rojas@tienda-del-sur.example';
  const failures = (Object.keys(FAILURES) as Failure[]).flatMap((failure): [string, Page][] => [
    [failure, errorPage(language, failure, { status: 403, reference, again: frame.action })],
    [`${failure}-lost`, errorPage(language, failure, { status: 403, reference })],
  ]);
  return {
    'email-bad': emailPage(frame, { email: 'ana', error: signIn.badEmail, status: 422 }),
    'email-anew': emailPage(frame, { error: signIn.anew }),
    'password-wrong': passwordPage(frame, { email, error: signIn.wrong, status: 422 }),
    'password-wrong-or-sso': passwordPage(frame, { email, error: signIn.wrongOrSso, status: 422 }),
    'password-locked': passwordPage(frame, { email, error: signIn.locked, status: 429 }),
    'factor-wrong': factorPage(frame, { error: factor.wrong, status: 422 }),
    'recovery-wrong': recoveryPage(frame, { error: factor.wrong, status: 422 }),
    'enrolment-wrong': enrolmentPage(frame, {
      uri: URI,
      secret: SECRET,
      asker: frame.organization,
      error: factor.wrong,
      status: 422,
    }),
    'enrolment-elsewhere': factorElsewherePage(frame, { email, asker: frame.organization }),
    'organization-none': organizationPage(frame, { choices: [], more: false, search: 'Zzz' }),
    'invitation-none': notInvitedPage(frame, { email }),
    'reset-request-wrong': resetRequestPage(plain, { error: signIn.badEmail, status: 422 }),
    ...Object.fromEntries(
      (['differs', 'length', 'common'] as const).map((why) => [
        `reset-${why}`,
        newPasswordPage(plain, { resetToken: 'pwr_AAAA', error: reset[why], status: 422 }),
      ]),
    ),
    'reset-dead': resetDeadPage(language),
    'protocol-error': protocolErrorPage(language, 'invalid_request: redirect_uri must be registered'),
    'protocol-away': protocolErrorPage(language, 'temporarily_unavailable', '/oauth/authorize?client_id=x'),
    ...Object.fromEntries(failures),
  };
}
