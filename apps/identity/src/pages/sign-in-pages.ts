import { alert, field, invalid, named, otherStep, stepForm, type Frame } from './frame.js';
import { html, type Html } from './html.js';
import { messagesOf } from './languages.js';
import { page, type Page } from './page.js';
import { qrCode } from './qr-code.js';

/** How a page is answered that says what was wrong. */
interface Wrong {
  readonly error?: string;
  readonly status?: number;
}

const CODE_FIELD = html`class="code" inputmode="numeric" pattern="[0-9 ]*" maxlength="9"
autocomplete="one-time-code" required autofocus`;

/** Who is it? Asked alone, because the address decides how. */
export function emailPage(frame: Frame, { email = '', error, status }: Wrong & { email?: string }): Page {
  const messages = messagesOf(frame.language);
  const attributes = html`type="email" value="${email}" autocomplete="username" maxlength="254" required
  autofocus${invalid(error)}`;
  return page({
    ...shared(frame, status),
    title: messages.signIn.title,
    body: html`${lead(messages.signIn.lead(named(frame.application)))} ${alert(error)}
    ${stepForm(frame, 'email', html`${field('email', messages.signIn.email, attributes)}<button type="submit">${messages.continue}</button>`)}
    ${otherStep(frame, 'cancel', messages.cancel)}`,
  });
}

/** The address stands there too, so that password managers know whose password it is. */
export function passwordPage(frame: Frame, { email, error, status }: Wrong & { email: string }): Page {
  const messages = messagesOf(frame.language);
  const emailField = field(
    'email',
    messages.signIn.email,
    html`type="email" value="${email}" autocomplete="username" readonly`,
  );
  const attributes = html`type="password" autocomplete="current-password" maxlength="1000" required
  autofocus${invalid(error)}`;
  const passwordField = field('password', messages.signIn.password, attributes);
  return page({
    ...shared(frame, status),
    title: messages.signIn.title,
    body: html`${lead(messages.signIn.lead(named(frame.application)))} ${alert(error)}
      ${stepForm(frame, 'password', html`${emailField}${passwordField}<button type="submit">${messages.signIn.submit}</button>`)}
      ${otherStep(frame, 'start', messages.signIn.otherEmail)}
      <p class="more"><a href="/oauth/password-reset/request">${messages.signIn.forgotten}</a></p>`,
  });
}

/** The address's domain has a provider of its own. */
export function ssoPage(frame: Frame, { email, enforced }: { email: string; enforced: boolean }): Page {
  const messages = messagesOf(frame.language);
  const hidden = html`<input type="hidden" name="email" value="${email}" />`;
  const password = enforced ? messages.sso.passwordEnforced : messages.sso.password;
  return page({
    ...shared(frame),
    title: messages.sso.title,
    body: html`<p class="lead">${enforced ? messages.sso.leadEnforced : messages.sso.lead}</p>
      ${stepForm(frame, 'sso', html`${hidden}<button type="submit" autofocus>${messages.sso.submit}</button>`)}
      ${stepForm(frame, 'use-password', html`${hidden}<button class="second" type="submit">${password}</button>`)}
      ${otherStep(frame, 'start', messages.signIn.otherEmail)}`,
  });
}

/** A code of an authenticator app. */
export function factorPage(frame: Frame, { error, status }: Wrong): Page {
  const messages = messagesOf(frame.language);
  const code = field('code', messages.factor.code, html`type="text" ${CODE_FIELD}${invalid(error)}`);
  return page({
    ...shared(frame, status),
    title: messages.factor.title,
    body: html`<p class="lead">${messages.factor.lead}</p>
      ${alert(error)}
      ${stepForm(frame, 'factor', html`${code}<button type="submit">${messages.factor.submit}</button>`)}
      ${otherStep(frame, 'use-recovery', messages.factor.useRecovery)}`,
  });
}

/** What stands in for the app. */
export function recoveryPage(frame: Frame, { error, status }: Wrong): Page {
  const messages = messagesOf(frame.language);
  const attributes = html`type="text" autocomplete="off" autocapitalize="characters" spellcheck="false"
  maxlength="60" required autofocus${invalid(error)}`;
  const code = field('code', messages.recovery.code, attributes);
  return page({
    ...shared(frame, status),
    title: messages.recovery.title,
    body: html`<p class="lead">${messages.recovery.lead}</p>
      ${alert(error)}
      ${stepForm(frame, 'recovery', html`${code}<button type="submit">${messages.factor.submit}</button>`)}
      ${otherStep(frame, 'use-app', messages.recovery.useApp)}`,
  });
}

/** A factor to set up, because the organization's policy asks for one. */
export function enrolmentPage(
  frame: Frame,
  { uri, secret, asker, error, status }: Wrong & { uri: string; secret: string; asker: string },
): Page {
  const messages = messagesOf(frame.language);
  const code = field('code', messages.enrol.code, html`type="text" ${CODE_FIELD}${invalid(error)}`);
  return page({
    ...shared(frame, status),
    title: messages.enrol.title,
    body: html`<p class="lead">${messages.enrol.lead(named(asker))}</p>
      ${alert(error)} ${qrCode(uri, messages.enrol.qr)}
      <p class="soft">${messages.enrol.byHand}<br /><code>${grouped(secret)}</code></p>
      ${stepForm(
        frame,
        'enrol',
        html`${code}
          <p class="hint">${messages.enrol.hint}</p>
          <button type="submit">${messages.enrol.submit}</button>`,
      )}`,
  });
}

/** A factor is to be set up, and holds in organizations in which the provider that let its user in has no say. */
export function factorElsewherePage(frame: Frame, { email, asker }: { email: string; asker: string }): Page {
  const messages = messagesOf(frame.language);
  const hidden = html`<input type="hidden" name="email" value="${email}" />`;
  return page({
    ...shared(frame, 403),
    title: messages.enrol.title,
    body: html`<p role="alert">${messages.enrol.elsewhere(named(asker))}</p>
      ${stepForm(frame, 'use-password', html`${hidden}<button type="submit">${messages.sso.password}</button>`)}
      ${otherStep(frame, 'cancel', messages.cancel)}
      <p class="more"><a href="/oauth/password-reset/request">${messages.signIn.forgotten}</a></p>`,
  });
}

/** The recovery codes of a factor that was just set up, this once. */
export function recoveryCodesPage(frame: Frame, codes: readonly string[]): Page {
  const messages = messagesOf(frame.language);
  return page({
    ...shared(frame),
    title: messages.codes.title,
    body: html`<p class="lead">${messages.codes.lead}</p>
      <ul class="codes">
        ${codes.map((code) => html`<li>${code}</li>`)}
      </ul>
      ${stepForm(frame, 'continue', html`<button type="submit">${messages.codes.submit}</button>`)}`,
  });
}

/** An organization that may be picked. */
interface Choice {
  readonly id: string;
  readonly name: string;
}

/** Which of several; where there are more than fit, with a search. */
export function organizationPage(
  frame: Frame,
  { choices, more, search }: { choices: readonly Choice[]; more: boolean; search?: string },
): Page {
  const messages = messagesOf(frame.language);
  const searchField = field(
    'search',
    messages.organization.search,
    html`type="search" value="${search ?? ''}" maxlength="80" autocomplete="off"`,
  );
  const searchForm = stepForm(
    frame,
    'search',
    html`${searchField}<button class="second" type="submit">${messages.organization.find}</button>`,
  );
  const items = choices.map(
    ({ id, name }) =>
      html`<li><button type="submit" name="organization" value="${id}">${named(name)}</button></li>`,
  );
  return page({
    ...shared(frame),
    title: messages.organization.title,
    body: html`<p class="lead">${messages.organization.lead(named(frame.application))}</p>
      ${choices.length === 0 && alert(messages.organization.none)}
      ${
        choices.length > 0 &&
        stepForm(
          frame,
          'organization',
          html`<ul class="choices">
            ${items}
          </ul>`,
        )
      }
      ${more && html`<p class="soft more">${messages.organization.first(choices.length)}</p>`}
      ${(more || search !== undefined) && html`<div class="more">${searchForm}</div>`}
      ${otherStep(frame, 'cancel', messages.cancel)}`,
  });
}

/** Whoever signs in by the link of an invitation joins that organization, if they mean to. */
export function invitationPage(
  frame: Frame,
  { email, organization }: { email: string; organization: string },
): Page {
  const messages = messagesOf(frame.language);
  return page({
    ...shared(frame),
    title: messages.invitation.title,
    body: html`<p class="lead">${messages.invitation.lead(named(organization), named(email))}</p>
      ${stepForm(frame, 'join', html`<button type="submit">${messages.invitation.join}</button>`)}
      ${otherStep(frame, 'start', messages.signIn.otherEmail)} ${otherStep(frame, 'cancel', messages.cancel)}`,
  });
}

/** Who is a member of nothing has come by an invitation that is not theirs, or is over. */
export function notInvitedPage(frame: Frame, { email }: { email: string }): Page {
  const messages = messagesOf(frame.language);
  return page({
    ...shared(frame, 403),
    title: messages.invitation.noneTitle,
    body: html`<p role="alert">${messages.invitation.none(named(email))}</p>
      ${otherStep(frame, 'start', messages.signIn.otherEmail, 'first')}
      ${otherStep(frame, 'cancel', messages.cancel)}`,
  });
}

/**
 * What a client that is somebody else's may learn, and that it acts with all that the user may do `within` that
 * organization, or with as much of it as `reach` names.
 */
export function consentPage(frame: Frame, { scopes, reach, host, within }: ConsentAsked): Page {
  const messages = messagesOf(frame.language);
  const application = named(frame.application);
  const sentences = scopes.map(
    (scope) =>
      html`<li>
        ${Object.hasOwn(messages.consent.scopes, scope) ? messages.consent.scopes[scope] : messages.consent.other(named(scope))}
      </li>`,
  );
  return page({
    ...shared(frame),
    title: messages.consent.plainTitle,
    heading: messages.consent.title(application),
    body: html`<p>${messages.consent.lead(application, named(frame.organization))}</p>
      <ul class="scopes">
        ${
          reach === null
            ? html`<li>${messages.consent.acts(named(within))}</li>`
            : reach.map((scope) => html`<li>${messages.consent.actsOnly(named(within), scope)}</li>`)
        }
        ${sentences}
      </ul>
      <p class="soft">${messages.consent.host(named(host))}</p>
      ${stepForm(frame, 'allow', html`<button type="submit">${messages.consent.allow}</button>`)}
      ${otherStep(frame, 'deny', messages.consent.deny)}`,
  });
}

/** What a client asks somebody for. */
interface ConsentAsked {
  readonly scopes: readonly string[];
  /** Scopes of the API; null: all that the user may do. */
  readonly reach: readonly string[] | null;
  readonly host: string;
  readonly within: string;
}

/**
 * The way out of these pages. A redirect that answers a form would be held to the form's policy, which lets nothing go
 * elsewhere; from this page the browser goes on by itself, and its link does without that.
 */
export function leavingPage(frame: Pick<Frame, 'language'>, url: string): Page {
  const messages = messagesOf(frame.language);
  return page({
    language: frame.language,
    title: messages.leaving.title,
    body: html`<p>${messages.leaving.body}</p>
      <a class="button" href="${url}">${messages.continue}</a>`,
    refresh: url,
  });
}

function shared({ language, organization, branding }: Frame, status = 200) {
  return { language, status, footer: named(organization), branding, logoOf: organization } as const;
}

function lead(text: Html): Html {
  return html`<p class="lead">${text}</p>`;
}

/** In fours, as people read it over. */
function grouped(secret: string): string {
  return (secret.match(/.{1,4}/g) ?? []).join(' ');
}
