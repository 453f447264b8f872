import { alert, field, invalid, named, otherStep, stepForm, type Frame } from './frame.js';
import { html, type Html } from './html.js';
import { wordsOf } from './languages.js';
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
  const words = wordsOf(frame.language);
  const attributes = html`type="email" value="${email}" autocomplete="username" maxlength="254" required
  autofocus${invalid(error)}`;
  return page({
    ...shared(frame, status),
    title: words.signIn.title,
    body: html`${lead(words.signIn.lead(named(frame.application)))} ${alert(error)}
    ${stepForm(frame, 'email', html`${field('email', words.signIn.email, attributes)}<button type="submit">${words.continue}</button>`)}
    ${otherStep(frame, 'cancel', words.cancel)}`,
  });
}

/** The address stands there too, so that password managers know whose password it is. */
export function passwordPage(frame: Frame, { email, error, status }: Wrong & { email: string }): Page {
  const words = wordsOf(frame.language);
  const emailField = field(
    'email',
    words.signIn.email,
    html`type="email" value="${email}" autocomplete="username" readonly`,
  );
  const attributes = html`type="password" autocomplete="current-password" maxlength="1000" required
  autofocus${invalid(error)}`;
  const passwordField = field('password', words.signIn.password, attributes);
  return page({
    ...shared(frame, status),
    title: words.signIn.title,
    body: html`${lead(words.signIn.lead(named(frame.application)))} ${alert(error)}
      ${stepForm(frame, 'password', html`${emailField}${passwordField}<button type="submit">${words.signIn.submit}</button>`)}
      ${otherStep(frame, 'start', words.signIn.otherEmail)}
      <p class="more"><a href="/oauth/password-reset/request">${words.signIn.forgotten}</a></p>`,
  });
}

/** The address's domain has a provider of its own. */
export function ssoPage(frame: Frame, { email, enforced }: { email: string; enforced: boolean }): Page {
  const words = wordsOf(frame.language);
  const hidden = html`<input type="hidden" name="email" value="${email}" />`;
  const password = enforced ? words.sso.passwordEnforced : words.sso.password;
  return page({
    ...shared(frame),
    title: words.sso.title,
    body: html`<p class="lead">${enforced ? words.sso.leadEnforced : words.sso.lead}</p>
      ${stepForm(frame, 'sso', html`${hidden}<button type="submit" autofocus>${words.sso.submit}</button>`)}
      ${stepForm(frame, 'use-password', html`${hidden}<button class="second" type="submit">${password}</button>`)}
      ${otherStep(frame, 'start', words.signIn.otherEmail)}`,
  });
}

/** A code of an authenticator app. */
export function factorPage(frame: Frame, { error, status }: Wrong): Page {
  const words = wordsOf(frame.language);
  const code = field('code', words.factor.code, html`type="text" ${CODE_FIELD}${invalid(error)}`);
  return page({
    ...shared(frame, status),
    title: words.factor.title,
    body: html`<p class="lead">${words.factor.lead}</p>
      ${alert(error)}
      ${stepForm(frame, 'factor', html`${code}<button type="submit">${words.factor.submit}</button>`)}
      ${otherStep(frame, 'use-recovery', words.factor.useRecovery)}`,
  });
}

/** What stands in for the app. */
export function recoveryPage(frame: Frame, { error, status }: Wrong): Page {
  const words = wordsOf(frame.language);
  const attributes = html`type="text" autocomplete="off" autocapitalize="characters" spellcheck="false"
  maxlength="60" required autofocus${invalid(error)}`;
  const code = field('code', words.recovery.code, attributes);
  return page({
    ...shared(frame, status),
    title: words.recovery.title,
    body: html`<p class="lead">${words.recovery.lead}</p>
      ${alert(error)}
      ${stepForm(frame, 'recovery', html`${code}<button type="submit">${words.factor.submit}</button>`)}
      ${otherStep(frame, 'use-app', words.recovery.useApp)}`,
  });
}

/** A factor to set up, because the organization's policy asks for one. */
export function enrolmentPage(
  frame: Frame,
  { uri, secret, asker, error, status }: Wrong & { uri: string; secret: string; asker: string },
): Page {
  const words = wordsOf(frame.language);
  const code = field('code', words.enrol.code, html`type="text" ${CODE_FIELD}${invalid(error)}`);
  return page({
    ...shared(frame, status),
    title: words.enrol.title,
    body: html`<p class="lead">${words.enrol.lead(named(asker))}</p>
      ${alert(error)} ${qrCode(uri, words.enrol.qr)}
      <p class="soft">${words.enrol.byHand}<br /><code>${grouped(secret)}</code></p>
      ${stepForm(
        frame,
        'enrol',
        html`${code}
          <p class="hint">${words.enrol.hint}</p>
          <button type="submit">${words.enrol.submit}</button>`,
      )}`,
  });
}

/** A factor is to be set up, and holds in organizations in which the provider that let its user in has no say. */
export function factorElsewherePage(frame: Frame, { email, asker }: { email: string; asker: string }): Page {
  const words = wordsOf(frame.language);
  const hidden = html`<input type="hidden" name="email" value="${email}" />`;
  return page({
    ...shared(frame, 403),
    title: words.enrol.title,
    body: html`<p role="alert">${words.enrol.elsewhere(named(asker))}</p>
      ${stepForm(frame, 'use-password', html`${hidden}<button type="submit">${words.sso.password}</button>`)}
      ${otherStep(frame, 'cancel', words.cancel)}
      <p class="more"><a href="/oauth/password-reset/request">${words.signIn.forgotten}</a></p>`,
  });
}

/** The recovery codes of a factor that was just set up, this once. */
export function recoveryCodesPage(frame: Frame, codes: readonly string[]): Page {
  const words = wordsOf(frame.language);
  return page({
    ...shared(frame),
    title: words.codes.title,
    body: html`<p class="lead">${words.codes.lead}</p>
      <ul class="codes">
        ${codes.map((code) => html`<li>${code}</li>`)}
      </ul>
      ${stepForm(frame, 'continue', html`<button type="submit">${words.codes.submit}</button>`)}`,
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
  const words = wordsOf(frame.language);
  const searchField = field(
    'search',
    words.organization.search,
    html`type="search" value="${search ?? ''}" maxlength="80" autocomplete="off"`,
  );
  const searchForm = stepForm(
    frame,
    'search',
    html`${searchField}<button class="second" type="submit">${words.organization.find}</button>`,
  );
  const items = choices.map(
    ({ id, name }) =>
      html`<li><button type="submit" name="organization" value="${id}">${named(name)}</button></li>`,
  );
  return page({
    ...shared(frame),
    title: words.organization.title,
    body: html`<p class="lead">${words.organization.lead(named(frame.application))}</p>
      ${choices.length === 0 && alert(words.organization.none)}
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
      ${more && html`<p class="soft more">${words.organization.first(choices.length)}</p>`}
      ${(more || search !== undefined) && html`<div class="more">${searchForm}</div>`}
      ${otherStep(frame, 'cancel', words.cancel)}`,
  });
}

/** Whoever signs in by the link of an invitation joins that organization, if they mean to. */
export function invitationPage(
  frame: Frame,
  { email, organization }: { email: string; organization: string },
): Page {
  const words = wordsOf(frame.language);
  return page({
    ...shared(frame),
    title: words.invitation.title,
    body: html`<p class="lead">${words.invitation.lead(named(organization), named(email))}</p>
      ${stepForm(frame, 'join', html`<button type="submit">${words.invitation.join}</button>`)}
      ${otherStep(frame, 'start', words.signIn.otherEmail)} ${otherStep(frame, 'cancel', words.cancel)}`,
  });
}

/** Who is a member of nothing has come by an invitation that is not theirs, or is over. */
export function notInvitedPage(frame: Frame, { email }: { email: string }): Page {
  const words = wordsOf(frame.language);
  return page({
    ...shared(frame, 403),
    title: words.invitation.noneTitle,
    body: html`<p role="alert">${words.invitation.none(named(email))}</p>
      ${otherStep(frame, 'start', words.signIn.otherEmail, 'first')}
      ${otherStep(frame, 'cancel', words.cancel)}`,
  });
}

/**
 * What a client that is somebody else's may learn, and that it acts with all that the user may do `within` that
 * organization, or with as much of it as `reach` names.
 */
export function consentPage(frame: Frame, { scopes, reach, host, within }: ConsentAsked): Page {
  const words = wordsOf(frame.language);
  const application = named(frame.application);
  const sentences = scopes.map(
    (scope) =>
      html`<li>
        ${Object.hasOwn(words.consent.scopes, scope) ? words.consent.scopes[scope] : words.consent.other(named(scope))}
      </li>`,
  );
  return page({
    ...shared(frame),
    title: words.consent.plainTitle,
    heading: words.consent.title(application),
    body: html`<p>${words.consent.lead(application, named(frame.organization))}</p>
      <ul class="scopes">
        ${
          reach === null
            ? html`<li>${words.consent.acts(named(within))}</li>`
            : reach.map((scope) => html`<li>${words.consent.actsOnly(named(within), scope)}</li>`)
        }
        ${sentences}
      </ul>
      <p class="soft">${words.consent.host(named(host))}</p>
      ${stepForm(frame, 'allow', html`<button type="submit">${words.consent.allow}</button>`)}
      ${otherStep(frame, 'deny', words.consent.deny)}`,
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
  const words = wordsOf(frame.language);
  return page({
    language: frame.language,
    title: words.leaving.title,
    body: html`<p>${words.leaving.body}</p>
      <a class="button" href="${url}">${words.continue}</a>`,
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
