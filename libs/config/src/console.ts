/**
 * The Console's own OAuth client, the same in every installation, so that nothing carries it from identity to the
 * Console. It is made at bootstrap; like any public client it has no secret.
 */
export const CONSOLE_CLIENT_ID = '00000000-0000-7000-8000-636f6e736f6c';

/** Where its pages are below the gateway. */
export const CONSOLE_PATHS = {
  home: '/console/',
  /** Where a sign-in comes back to. */
  callback: '/console/callback',
  /** The same without a question, in a frame of the Console's own. */
  silent: '/console/silent.html',
  /** The document that mails are previewed in. */
  mailPreview: '/console/mail-preview.html',
  /** Opened by the link of an invitation, with its token in the fragment. */
  invitation: '/console/invitation',
} as const;
