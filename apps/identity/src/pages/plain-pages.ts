import { alert, field, invalid, stepForm, type Frame } from './frame.js';
import { html, type Html } from './html.js';
import { messagesOf, type Language } from './languages.js';
import { page, type Page } from './page.js';
import { consoleAddress } from '../vocabulary/console-address.js';

/** What can go wrong so that there is no form to go on with. */
export type Failure = Exclude<
  keyof ReturnType<typeof messagesOf>['error'],
  'title' | 'expiredTitle' | 'manyTitle' | 'reference' | 'again' | 'console' | 'protocol'
>;

/** Pages that belong to no sign-in: what went wrong, the end, the reset of a password. */
type Bare = Pick<Frame, 'language' | 'action' | 'token'>;

/** How what went wrong is answered. */
interface WhatToDo {
  readonly status: number;
  /** The number to ask about it with. */
  readonly reference?: string;
  /** The address at which it goes on, or begins anew; the Console's where nobody knows. */
  readonly again?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What went wrong, and what can be done about it. */
export function errorPage(
  language: Language,
  failure: Failure,
  { status, reference, again, headers }: WhatToDo,
): Page {
  const { error } = messagesOf(language);
  const titles: Partial<Record<Failure, string>> = { expired: error.expiredTitle, many: error.manyTitle };
  return page({
    language,
    status,
    title: titles[failure] ?? error.title,
    body: html`<p>${error[failure]}</p>
      ${wayOn(language, again)}
      ${reference !== undefined && html`<p class="soft">${error.reference(html`<code>${reference}</code>`)}</p>`}`,
    ...(headers ? { headers } : {}),
  });
}

/** Who is told no is shown where it goes on from there. */
function wayOn(language: Language, again: string | undefined): Html {
  const { error } = messagesOf(language);
  const [href, text] = again === undefined ? [consoleAddress(), error.console] : [again, error.again];
  return html`<p class="more"><a class="button" href="${href}">${text}</a></p>`;
}

/** The session has ended, and no application wants to be told. */
export function signedOutPage(language: Language): Page {
  const { signedOut } = messagesOf(language);
  return page({ language, title: signedOut.title, body: html`<p role="status">${signedOut.body}</p>` });
}

/** Whose mail gets a link. */
export function resetRequestPage(
  frame: Bare,
  { error, status = 200 }: { error?: string; status?: number } = {},
): Page {
  const messages = messagesOf(frame.language);
  const attributes = html`type="email" autocomplete="username" maxlength="254" required
  autofocus${invalid(error)}`;
  return page({
    language: frame.language,
    status,
    title: messages.reset.title,
    body: html`<p class="lead">${messages.reset.lead}</p>
      ${alert(error)}
      ${stepForm(frame, 'request', html`${field('email', messages.signIn.email, attributes)}<button type="submit">${messages.reset.submit}</button>`)}`,
  });
}

/** The same whether anybody has the address. */
export function resetSentPage(language: Language): Page {
  const { reset } = messagesOf(language);
  return page({ language, title: reset.sentTitle, body: html`<p role="status">${reset.sent}</p>` });
}

/** A new password, for whoever has the link. */
export function newPasswordPage(
  frame: Bare,
  { resetToken, error, status = 200 }: { resetToken: string; error?: string; status?: number },
): Page {
  const messages = messagesOf(frame.language);
  const attributes = html`type="password" autocomplete="new-password" minlength="15" maxlength="128" required`;
  const hidden = html`<input type="hidden" name="reset_token" value="${resetToken}" />`;
  const first = field('password', messages.reset.password, html`${attributes} autofocus${invalid(error)}`);
  const second = field('repeat', messages.reset.repeat, html`${attributes}${invalid(error)}`);
  return page({
    language: frame.language,
    status,
    title: messages.reset.newTitle,
    body: html`<p class="lead">${messages.reset.newLead}</p>
      ${alert(error)}
      ${stepForm(frame, 'confirm', html`${hidden}${first}${second}<button type="submit">${messages.reset.save}</button>`)}`,
  });
}

/** The password is set; nobody is signed in by that. */
export function resetDonePage(language: Language): Page {
  const { reset } = messagesOf(language);
  return page({ language, title: reset.doneTitle, body: html`<p role="status">${reset.done}</p>` });
}

/** The link is of no use any more. */
export function resetDeadPage(language: Language): Page {
  const { reset, error } = messagesOf(language);
  return page({
    language,
    status: 401,
    title: error.title,
    body: html`<p role="alert">${reset.dead}</p>
      <a class="button" href="/oauth/password-reset/request">${reset.again}</a>`,
  });
}

/** Whether one means to sign out; `form` is the provider's, called `name`, with its proof against forgery. */
export function signOutPage(language: Language, form: Html, name: string): Page {
  const { signOut } = messagesOf(language);
  return page({
    language,
    title: signOut.title,
    body: html`<p class="lead">${signOut.lead}</p>
      ${form}
      <button type="submit" form="${name}" name="logout" value="yes" autofocus>${signOut.submit}</button>
      <button class="second" type="submit" form="${name}">${signOut.stay}</button>`,
  });
}

/** Says the protocol's fault of a request that cannot be sent back to its client; `again` where it may be sent once more. */
export function protocolErrorPage(language: Language, said: string, again?: string): Page {
  const { error } = messagesOf(language);
  const body = html`<p>${again === undefined ? error.protocol : error.unavailable}</p>
    ${wayOn(language, again)}
    <p class="soft">${error.reference(html`<code>${said}</code>`)}</p>`;
  return page({ language, title: error.title, body });
}
