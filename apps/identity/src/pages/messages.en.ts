import { apiScope } from '../vocabulary/api-scopes.js';
import { html, type Html } from './html.js';

/** What is in a module, as whoever is asked for consent knows it. */
const MODULES: Readonly<Record<string, string>> = {
  core: 'contacts, events and segments',
  crm: 'notes, activities and records',
  identity: 'people, roles and settings',
  loyalty: 'points and their rules',
  messaging: 'messages, templates and campaigns',
};

/** What the pages say. Names that tenants chose come as markup: they are set apart from the sentence. */
export interface PageMessages {
  readonly continue: string;
  readonly back: string;
  readonly cancel: string;
  readonly goOn: (application: Html) => Html;
  readonly signIn: {
    readonly title: string;
    readonly lead: (application: Html) => Html;
    readonly email: string;
    readonly password: string;
    readonly submit: string;
    readonly otherEmail: string;
    readonly forgotten: string;
    readonly badEmail: string;
    readonly wrong: string;
    readonly wrongOrSso: string;
    readonly locked: string;
    readonly anew: string;
  };
  readonly sso: {
    readonly title: string;
    readonly lead: string;
    readonly leadEnforced: string;
    readonly submit: string;
    readonly password: string;
    readonly passwordEnforced: string;
  };
  readonly factor: {
    readonly title: string;
    readonly lead: string;
    readonly code: string;
    readonly submit: string;
    readonly useRecovery: string;
    readonly wrong: string;
  };
  readonly recovery: {
    readonly title: string;
    readonly lead: string;
    readonly code: string;
    readonly useApp: string;
  };
  readonly enrol: {
    readonly title: string;
    readonly lead: (organization: Html) => Html;
    readonly elsewhere: (organization: Html) => Html;
    readonly qr: string;
    readonly byHand: string;
    readonly code: string;
    readonly hint: string;
    readonly submit: string;
  };
  readonly codes: { readonly title: string; readonly lead: string; readonly submit: string };
  readonly organization: {
    readonly title: string;
    readonly lead: (application: Html) => Html;
    readonly search: string;
    readonly find: string;
    readonly none: string;
    readonly first: (count: number) => string;
  };
  readonly invitation: {
    readonly title: string;
    readonly lead: (organization: Html, email: Html) => Html;
    readonly join: string;
    readonly noneTitle: string;
    readonly none: (email: Html) => Html;
  };
  readonly consent: {
    readonly title: (application: Html) => Html;
    readonly plainTitle: string;
    readonly lead: (application: Html, organization: Html) => Html;
    readonly acts: (organization: Html) => Html;
    /** As far as a scope of the API goes. */
    readonly actsOnly: (organization: Html, scope: string) => Html;
    readonly scopes: Readonly<Record<string, string>>;
    readonly other: (scope: Html) => Html;
    readonly host: (host: Html) => Html;
    readonly allow: string;
    readonly deny: string;
  };
  readonly reset: {
    readonly title: string;
    readonly lead: string;
    readonly submit: string;
    readonly sentTitle: string;
    readonly sent: string;
    readonly newTitle: string;
    readonly newLead: string;
    readonly password: string;
    readonly repeat: string;
    readonly save: string;
    readonly differs: string;
    readonly length: string;
    readonly common: string;
    readonly doneTitle: string;
    readonly done: string;
    readonly dead: string;
    readonly again: string;
  };
  readonly signedOut: { readonly title: string; readonly body: string };
  readonly signOut: {
    readonly title: string;
    readonly lead: string;
    readonly submit: string;
    readonly stay: string;
  };
  readonly leaving: { readonly title: string; readonly body: string };
  readonly error: {
    readonly title: string;
    readonly expiredTitle: string;
    readonly expired: string;
    readonly manyTitle: string;
    readonly many: string;
    readonly busy: string;
    readonly forged: string;
    readonly unreadable: string;
    readonly unavailable: string;
    readonly ssoRefused: string;
    readonly ssoUnavailable: string;
    readonly ssoNoAccount: string;
    readonly ssoWrongAddress: string;
    readonly ssoNotFresh: string;
    readonly internal: string;
    readonly again: string;
    readonly console: string;
    readonly protocol: string;
    readonly reference: (id: Html) => Html;
  };
}

export const ENGLISH: PageMessages = {
  continue: 'Continue',
  back: 'Back',
  cancel: 'Cancel',
  goOn: (application) => html`To go on to ${application}`,
  signIn: {
    title: 'Sign in',
    lead: (application) => html`to go on to ${application}`,
    email: 'Email',
    password: 'Password',
    submit: 'Sign in',
    otherEmail: 'Use another email',
    forgotten: 'Forgot your password?',
    badEmail: 'Enter your email address, such as ana@example.com.',
    wrong: 'The email or the password is wrong.',
    wrongOrSso: 'The email or the password is wrong, or your organization asks you to sign in with SSO.',
    locked:
      'Too many wrong passwords. Wait for a quarter of an hour, or set a new one: with it you can sign in here at once.',
    anew: 'What was entered before counts no more: its time is over, or something about your account has changed. Sign in again.',
  },
  sso: {
    title: 'Sign in with SSO',
    lead: 'Your organization signs you in with its own account.',
    leadEnforced:
      'Your organization asks you to sign in with its own account. Only its owners who have a second factor can use a password, if that is away.',
    submit: 'Continue with SSO',
    password: 'Use a password instead',
    passwordEnforced: 'I am an owner, or go to another organization: use my password',
  },
  factor: {
    title: 'Second step',
    lead: 'Open your authenticator app and enter the code that it shows.',
    code: '6-digit code',
    submit: 'Verify',
    useRecovery: 'Use a recovery code',
    wrong: 'The code is wrong, or was used before.',
  },
  recovery: {
    title: 'Recovery code',
    lead: 'Enter one of the recovery codes that you kept. Each works once.',
    code: 'Recovery code',
    useApp: 'Use the authenticator app',
  },
  enrol: {
    title: 'Set up your second step',
    lead: (organization) =>
      html`${organization} asks for a second factor. Scan this code with an authenticator app, then enter the
      code that it shows.`,
    elsewhere: (organization) =>
      html`${organization} asks for a second factor. You are a member of other organizations, too, and a
      second factor holds in all of them, so you set it up after signing in with your password. If
      ${organization} takes no password, sign in with it to another organization of yours, set the factor up
      in your account there, and then sign in here again.`,
    qr: 'QR code for the authenticator app',
    byHand: 'If you cannot scan it, enter this key in the app:',
    code: '6-digit code',
    hint: 'Ten minutes to go; after that a new key is made. Your other sessions end.',
    submit: 'Confirm',
  },
  codes: {
    title: 'Keep your recovery codes',
    lead: 'If you lose your phone, each of these signs you in once. Keep them where you keep passwords: they are not shown again.',
    submit: 'I have kept them',
  },
  organization: {
    title: 'Choose an organization',
    lead: (application) => html`You will work in it when you go on to ${application}.`,
    search: 'Name begins with',
    find: 'Find',
    none: 'None of your organizations begins with that.',
    first: (count) => `These are the first ${String(count)}. Search to see others.`,
  },
  invitation: {
    title: 'Accept the invitation?',
    lead: (organization, email) => html`You join ${organization} as ${email}.`,
    join: 'Join',
    noneTitle: 'There is no invitation for you here',
    none: (email) =>
      html`You signed in as ${email}. The invitation was sent to another address, was used, or is over: sign
      in with the address that it was sent to, or ask whoever invited you for a new one.`,
  },
  consent: {
    title: (application) => html`Allow ${application}?`,
    plainTitle: 'Allow access?',
    lead: (application, organization) => html`${application}, made by ${organization}, asks to:`,
    acts: (organization) => html`act as you in ${organization}, with everything you may do there`,
    actsOnly: (organization, scope) => {
      const { module, kind } = apiScope(scope);
      const what = module === undefined ? 'everything' : (MODULES[module] ?? module);
      return kind === 'read'
        ? html`read ${what} in ${organization}, as far as you may`
        : html`change ${what} in ${organization}, as far as you may`;
    },
    scopes: {
      openid: 'know who you are',
      profile: 'see your name and language',
      email: 'see your email address',
      organization: 'see your organizations it serves, and what you may do in this one',
      offline_access: 'stay signed in while you are away',
    },
    other: (scope) => html`use ${scope}`,
    host: (host) => html`You go on to ${host}.`,
    allow: 'Allow',
    deny: 'Do not allow',
  },
  reset: {
    title: 'Reset your password',
    lead: 'We send you a link with which you set a new one.',
    submit: 'Send the link',
    sentTitle: 'Look into your mail',
    sent: 'If there is an account with that address, a link is on its way. It works once, for an hour.',
    newTitle: 'Set a new password',
    newLead: '15 characters at least; a few words that you can remember are best.',
    password: 'New password',
    repeat: 'The same again',
    save: 'Save the password',
    differs: 'The two passwords are not the same.',
    length: 'The password needs 15 to 128 characters.',
    common: 'That password is too easy to guess. Take another.',
    doneTitle: 'Your password is set',
    done: 'All your sessions have ended. Go back to the application and sign in with it.',
    dead: 'This link has been used, or its time is over.',
    again: 'Ask for another link',
  },
  signedOut: { title: 'You are signed out', body: 'You can close this page.' },
  signOut: {
    title: 'Sign out?',
    lead: 'You will have to sign in again.',
    submit: 'Sign out',
    stay: 'Stay signed in',
  },
  leaving: { title: 'One moment', body: 'If nothing happens, continue by yourself.' },
  error: {
    title: 'That did not work',
    expiredTitle: 'This page is out of date',
    expired:
      'What you did here is over, or was begun elsewhere. Sign in again, from here or from your application.',
    manyTitle: 'Too many tries',
    many: 'Wait for a quarter of an hour, then try again.',
    busy: 'Many people are signing in. Try again in a few seconds.',
    forged: 'The form is not from here, or you have gone on since. Go on from here.',
    unreadable: 'The form could not be read. Go on from here and fill it in again.',
    unavailable: 'We cannot answer at this moment. Try again shortly.',
    ssoRefused:
      'The sign-in at your organization was not accepted. Begin again, or show your administrator the reference.',
    ssoUnavailable: 'The sign-in of your organization does not answer. Try again shortly.',
    ssoNoAccount: 'There is no account here that you could use. Ask your administrator to invite you.',
    ssoWrongAddress:
      'Your organization does not vouch for an address of its own for the account that you signed in with there. Sign out there and use another account, or show your administrator the reference.',
    ssoNotFresh:
      'The application wants you to have signed in at your organization just now, and your organization does not say so. Sign out there, then begin again; if it stays so, show your administrator the reference.',
    internal: 'Something went wrong on our side. Try again; if it stays so, tell us the reference.',
    again: 'Begin again',
    console: 'Open the Console',
    protocol:
      'The application that sent you here did not ask as it should. Go back to it and try again; if it stays so, show whoever runs it the reference.',
    reference: (id) => html`Reference: ${id}`,
  },
};
