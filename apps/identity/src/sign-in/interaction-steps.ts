import { Injectable } from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { InvitationAcceptance } from '../invitations/invitation-acceptance.js';
import { SignInFactors } from '../mfa/sign-in-factors.js';
import { SsoSignIn } from '../sso-connections/sso-sign-in.js';
import { API_SCOPES, apiScopesIn } from '../vocabulary/api-scopes.js';
import type { Interaction } from '../oauth/interactions.js';
import { OrganizationChoice, type OpenOrganization } from '../oauth/organization-choice.js';
import { BrowserBinding } from '../pages/browser-binding.js';
import { KnownBrowsers } from './known-browsers.js';
import { messagesOf } from '../pages/languages.js';
import type { Page } from '../pages/page.js';
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
} from '../pages/sign-in-pages.js';
import { PasswordSignIn } from './password-sign-in.js';
import type { SignInForm } from './sign-in-form.js';
import { SignInProgress, type Progress } from './sign-in-progress.js';
import { counted } from '../vocabulary/sign-in-metrics.js';
import { isFresh } from '../sessions/own-session.js';
import type { SignedIn } from '../vocabulary/signed-in.js';
import {
  contextOf,
  hostOf,
  invitationIn,
  noMembership,
  start,
  startAnew,
  type Outcome,
  type Visit,
} from './visit.js';

const WRONG = 422;
const LOCKED = 429;

/**
 * The steps of a sign-in: email → password or SSO → second factor → organization → enrolment where its policy asks for
 * it → the end. What has been shown is kept in {@link SignInProgress}, never in a page.
 */
@Injectable()
export class InteractionSteps {
  constructor(
    private readonly progress: SignInProgress,
    private readonly passwords: PasswordSignIn,
    private readonly factors: SignInFactors,
    private readonly organizations: OrganizationChoice,
    private readonly sso: SsoSignIn,
    private readonly invitations: InvitationAcceptance,
    private readonly browsers: KnownBrowsers,
    private readonly clock: Clock,
  ) {}

  /** Where the interaction is. */
  async show(visit: Visit): Promise<Outcome> {
    const { interaction, browser } = visit;
    if (interaction.prompt === 'consent') return { page: this.consent(visit) };
    const progress = await this.progress.find(interaction, browser);
    if (progress) return this.next(visit, progress);
    const { signedIn } = interaction;
    if (!signedIn) return { page: start(visit) };
    // The session that is there already began with all that was asked for; nobody else's sign-in did.
    return this.goOnAs(visit, signedIn, { factorGiven: true });
  }

  /** What a form asks for. */
  async take(visit: Visit, form: SignInForm): Promise<Outcome> {
    const step = form.get('step');
    if (visit.interaction.prompt === 'consent') return this.decide(visit, step);
    switch (step) {
      case 'cancel':
        return { result: { error: 'access_denied', description: 'The sign-in was cancelled.' } };
      case 'start':
        return { page: start(visit) };
      case 'email':
      case 'use-password':
        return this.askHow(visit, form);
      case 'sso':
        return this.leaveForSso(visit, form);
      case 'password':
        return this.checkPassword(visit, form);
      default:
        return this.takeSignedIn(visit, form);
    }
  }

  private async takeSignedIn(visit: Visit, form: SignInForm): Promise<Outcome> {
    const progress = await this.progress.find(visit.interaction, visit.browser);
    if (!progress) return { page: startAnew(visit) };
    const isFactorDue = await this.isFactorDue(progress);
    const mayGiveFactor = isFactorDue || (await this.couldGiveFactor(progress));
    switch (form.get('step')) {
      case 'use-recovery':
        return mayGiveFactor ? { page: recoveryPage(visit.frameFor(), {}) } : this.next(visit, progress);
      case 'factor':
      case 'recovery':
        return mayGiveFactor ? this.checkFactor(visit, progress, form) : this.next(visit, progress);
      case 'enrol':
        return this.confirmFactor(visit, progress, form);
      case 'join':
        return isFactorDue ? this.next(visit, progress) : this.join(visit, progress);
      case 'organization':
        return this.chooseOrganization(visit, progress, form);
      case 'search':
        return isFactorDue ? this.next(visit, progress) : this.search(visit, progress, form);
      default:
        return this.next(visit, progress);
    }
  }

  /** By the address alone it is known whose way in it is, and never whether anybody has it. */
  private async askHow(visit: Visit, form: SignInForm): Promise<Outcome> {
    const { email } = form;
    if (email === undefined) {
      const error = messagesOf(visit.frameFor().language).signIn.badEmail;
      return { page: emailPage(visit.frameFor(), { email: form.get('email'), error, status: WRONG }) };
    }
    const connection = form.get('step') === 'email' ? await this.sso.forEmail(email) : undefined;
    if (connection) return { page: ssoPage(visit.frameFor(), { email, enforced: connection.enforced }) };
    return { page: passwordPage(visit.frameFor(), { email }) };
  }

  private async leaveForSso(visit: Visit, { email }: SignInForm): Promise<Outcome> {
    const connection = email === undefined ? undefined : await this.sso.forEmail(email);
    if (email === undefined || !connection) return { page: start(visit) };
    const { interaction, browser } = visit;
    // A factor is to be set up, and when that provider authenticated its user was too long ago, or is not known.
    const before = await this.progress.find(interaction, browser);
    const isStale = before !== undefined && !isFresh(before.signedIn, this.clock.now());
    const anew = { ...freshnessIn(interaction.params), ...(isStale && { prompt: 'login' as const }) };
    const from = { browserHash: browser.hash, loginHint: email, anew };
    const { href } = await this.sso.begin(interaction, connection.connectionId, from);
    return { page: leavingPage(visit.frameFor(), href) };
  }

  private async checkPassword(visit: Visit, form: SignInForm): Promise<Outcome> {
    const { interaction, origin } = visit;
    const { email } = form;
    if (email === undefined) return { page: start(visit) };
    const { organizationId } = interaction.client;
    const knownBrowser = this.browsers.of(visit.request, email);
    const claim = { organizationId, email, password: form.get('password'), ip: origin.ip, knownBrowser };
    const signedIn = await counted('password', this.passwords.check(claim)).catch(lockedOrFailed);
    if (signedIn instanceof Problem) return { page: lockedPage(visit, email, signedIn) };
    if (!signedIn) {
      const messages = messagesOf(visit.frameFor().language).signIn;
      const connection = await this.sso.forEmail(email);
      const error = connection?.enforced ? messages.wrongOrSso : messages.wrong;
      return { page: passwordPage(visit.frameFor(), { email, error, status: WRONG }) };
    }
    this.browsers.remember(visit.request, visit.response, email);
    return this.goOnAs(visit, signedIn, { factorGiven: false });
  }

  /** Whoever put a secret into this browser before does not know the one that it has from here on. */
  private async goOnAs(
    visit: Visit,
    signedIn: SignedIn,
    { factorGiven }: Pick<Progress, 'factorGiven'>,
  ): Promise<Outcome> {
    const { interaction } = visit;
    const browser = BrowserBinding.fresh(visit.response, interaction.uid);
    await this.progress.begin(interaction, browser, signedIn);
    if (factorGiven) await this.progress.gain(interaction, browser, []);
    const after = { ...visit, browser, frameFor: () => visit.frameFor(browser) };
    const progress = await this.progress.find(interaction, browser);
    return progress ? this.next(after, progress) : { page: startAnew(after) };
  }

  /** What is still to be done before the user is signed in. */
  private async next(visit: Visit, progress: Progress): Promise<Outcome> {
    if (await this.isFactorDue(progress)) return { page: factorPage(visit.frameFor(), {}) };
    const organization = await this.organizationOf(visit, progress);
    if ('outcome' in organization) return organization.outcome;
    const { id, demandsMfa } = organization.open;
    if (demandsMfa && !progress.signedIn.amr.includes('mfa')) {
      if (await this.couldGiveFactor(progress)) return { page: factorPage(visit.frameFor(), {}) };
      // Whoever has come upon a browser that was left open would lock its user out of all others.
      if (!isFresh(progress.signedIn, this.clock.now())) return { page: startAnew(visit) };
      return this.askToEnrol(visit, progress, organization.open);
    }
    return { result: { signedIn: progress.signedIn, organizationId: id }, browser: visit.browser };
  }

  private async isFactorDue({ factorGiven, signedIn }: Progress): Promise<boolean> {
    return !factorGiven && (await this.factors.has(signedIn.userId));
  }

  /** Whether the user has a factor that was not given here: whose browser is known may have set one up since. */
  private async couldGiveFactor({ signedIn }: Progress): Promise<boolean> {
    return !signedIn.amr.includes('mfa') && (await this.factors.has(signedIn.userId));
  }

  private async checkFactor(visit: Visit, progress: Progress, form: SignInForm): Promise<Outcome> {
    const { signedIn } = progress;
    const code = form.get('code');
    const isRecovery = form.get('step') === 'recovery';
    const context = contextOf(visit, progress.homeId, signedIn.userId);
    const signIn = this.progress.giving(visit.interaction, visit.browser);
    const isRight = await counted(
      isRecovery ? 'recovery_code' : 'factor',
      rightOrNothing(
        (isRecovery
          ? this.factors.verifyRecoveryCode(context, signedIn, code, signIn)
          : this.factors.verifyCode(signedIn, code.replaceAll(' ', ''), signIn)
        ).then(() => true),
      ),
    );
    if (!isRight) {
      const wrong = { error: messagesOf(visit.frameFor().language).factor.wrong, status: WRONG };
      return {
        page: isRecovery ? recoveryPage(visit.frameFor(), wrong) : factorPage(visit.frameFor(), wrong),
      };
    }
    return this.show(visit);
  }

  private async organizationOf(
    visit: Visit,
    progress: Progress,
  ): Promise<{ open: OpenOrganization } | { outcome: Outcome }> {
    const { client, params } = visit.interaction;
    const { signedIn } = progress;
    const proof = invitationIn(params);
    if (proof !== undefined && progress.chosenOrganizationId === undefined) {
      const offered = await this.invitations.offered(signedIn.userId, proof);
      if (offered)
        return { outcome: { page: invitationPage(visit.frameFor(), { ...progress, ...offered }) } };
    }
    const asked = params['organization'];
    const wish = typeof asked === 'string' ? asked : progress.chosenOrganizationId;
    if (wish !== undefined) {
      const open = await this.organizations.named(signedIn, client, wish);
      return open ? { open } : { outcome: noMembership() };
    }
    const { choices, more } = await this.organizations.offered(signedIn, client);
    const [only] = choices;
    if (!only && proof !== undefined)
      return { outcome: { page: notInvitedPage(visit.frameFor(), progress) } };
    if (!only) return { outcome: noMembership() };
    if (choices.length === 1) return { open: only };
    return { outcome: { page: organizationPage(visit.frameFor(), { choices, more }) } };
  }

  /** Whoever has signed in as who is invited takes the invitation, with the factor as for any other sign-in. */
  private async join(visit: Visit, progress: Progress): Promise<Outcome> {
    const context = contextOf(visit, progress.homeId, progress.signedIn.userId);
    const proof = invitationIn(visit.interaction.params) ?? '';
    const joined = await this.invitations.acceptSignedIn(context, proof);
    if (joined !== undefined) await this.progress.choose(visit.interaction, visit.browser, joined);
    return this.show(visit);
  }

  private async chooseOrganization(visit: Visit, progress: Progress, form: SignInForm): Promise<Outcome> {
    const { client } = visit.interaction;
    const chosen = form.get('organization');
    const open = await this.organizations.named(progress.signedIn, client, chosen);
    if (open) await this.progress.choose(visit.interaction, visit.browser, open.id);
    return this.show(visit);
  }

  private async search(visit: Visit, progress: Progress, form: SignInForm): Promise<Outcome> {
    const search = form.get('search').slice(0, 80);
    const { client } = visit.interaction;
    const { choices, more } = await this.organizations.offered(progress.signedIn, client, search);
    return { page: organizationPage(visit.frameFor(), { choices, more, search }) };
  }

  private async askToEnrol(
    visit: Visit,
    progress: Progress,
    { name }: OpenOrganization,
    wrong: { error?: string; status?: number } = {},
  ): Promise<Outcome> {
    const { signedIn, email } = progress;
    const begun = await this.factors.enroll(signedIn, progress.factorId);
    if (!begun) return { page: factorElsewherePage(visit.frameFor(), { email, asker: name }) };
    await this.progress.enrol(visit.interaction, visit.browser, begun.factor_id);
    const shown = { uri: begun.otpauth_uri, secret: begun.secret, asker: name };
    return { page: enrolmentPage(visit.frameFor(), { ...shown, ...wrong }) };
  }

  private async confirmFactor(visit: Visit, progress: Progress, form: SignInForm): Promise<Outcome> {
    const organization = await this.organizationOf(visit, progress);
    if ('outcome' in organization) return organization.outcome;
    if (progress.factorId === undefined) return this.next(visit, progress);
    const { signedIn } = progress;
    const context = contextOf(visit, organization.open.id, signedIn.userId);
    const code = form.get('code').replaceAll(' ', '');
    const confirmed = await rightOrNothing(this.factors.confirm(context, signedIn, progress.factorId, code));
    if (!confirmed) {
      const error = messagesOf(visit.frameFor().language).factor.wrong;
      return this.askToEnrol(visit, progress, organization.open, { error, status: WRONG });
    }
    if ('over' in confirmed) return this.show(visit);
    const { interaction, browser } = visit;
    if (!(await this.progress.gain(interaction, browser, confirmed.amr))) return { page: startAnew(visit) };
    return { page: recoveryCodesPage(visit.frameFor(), confirmed.recoveryCodes) };
  }

  private consent(visit: Visit): Page {
    const { scopes, params } = visit.interaction;
    const { scope: asked } = params;
    const reach = apiScopesIn(typeof asked === 'string' ? asked.split(' ') : []);
    const others = scopes.filter((scope) => !API_SCOPES.includes(scope));
    const host = hostOf(params);
    return consentPage(visit.frameFor(), { scopes: others, reach, host, within: visit.within });
  }

  private decide(visit: Visit, step: string): Outcome {
    if (step === 'allow') return { result: { consent: visit.interaction.scopes } };
    if (step !== 'deny') return { page: this.consent(visit) };
    return { result: { error: 'access_denied', description: 'The user did not allow it.' } };
  }
}

/** How fresh a sign-in the client asks for: it is the provider that can see to it. */
function freshnessIn({ prompt, max_age: age }: Interaction['params']): {
  prompt?: 'login';
  max_age?: string;
} {
  const isAnew = typeof prompt === 'string' && prompt.split(' ').includes('login');
  const max_age = typeof age === 'number' || typeof age === 'string' ? { max_age: String(age) } : {};
  return { ...(isAnew && { prompt: 'login' }), ...max_age };
}

/** Whoever is let try no more is told so beside the way to a new password, which ends that. */
function lockedPage(visit: Visit, email: string, { headers }: Problem): Page {
  const frame = visit.frameFor();
  const error = messagesOf(frame.language).signIn.locked;
  const page = passwordPage(frame, { email, error, status: LOCKED });
  return { ...page, headers: { ...page.headers, ...headers } };
}

function lockedOrFailed(error: unknown): Problem {
  const isLocked =
    error instanceof Problem && error.code === 'rate_limited' && error.members['scope'] === 'user';
  if (isLocked) return error;
  throw error;
}

async function rightOrNothing<T>(attempt: Promise<T>): Promise<T | undefined> {
  try {
    return await attempt;
  } catch (error) {
    if (error instanceof Problem && error.code === 'mfa_code_invalid') return undefined;
    throw error;
  }
}
