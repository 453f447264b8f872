import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Req, Res, UseFilters } from '@nestjs/common';
import {
  AnyBody,
  CorrelationId,
  Endpoint,
  Origin,
  PathText,
  type RequestOrigin,
} from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Interactions } from '../oauth/interactions.js';
import { OrganizationChoice } from '../oauth/organization-choice.js';
import { BrowserBinding, isOwnForm } from '../pages/browser-binding.js';
import { InteractionSteps } from './interaction-steps.js';
import type { Outcome, Visit } from './visit.js';
import { PageErrorsFilter } from './page-errors.filter.js';
import { languageOf } from '../pages/languages.js';
import { sendPage } from '../pages/page.js';
import { leavingPage } from '../pages/sign-in-pages.js';
import { SignInForm } from './sign-in-form.js';

/** Nobody fills more into these forms. */
const FORM_BYTES = 16 * 1024;

/** The pages by which people sign in and consent (identity.md §7). */
@Controller('oauth/interactions')
@UseFilters(PageErrorsFilter)
export class InteractionsController {
  constructor(
    private readonly interactions: Interactions,
    private readonly steps: InteractionSteps,
    private readonly organizations: OrganizationChoice,
  ) {}

  @Endpoint({
    method: 'GET',
    path: ':uid',
    authorization: 'protocol',
    summary: 'The page of a sign-in that is under way',
    description: 'HTML: email, password, second factor, organization or consent, whichever is next.',
  })
  async show(
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
    @PathText('uid') uid: string,
    @Origin() origin: RequestOrigin,
    @CorrelationId() correlationId: string,
  ): Promise<void> {
    const visit = await this.visit(request, response, uid, { origin, correlationId });
    await this.answer(visit, () => this.steps.show(visit));
  }

  @Endpoint({
    method: 'POST',
    path: ':uid',
    authorization: 'protocol',
    summary: 'A form of a sign-in that is under way',
    description: 'Only from the page itself, in the browser that it was made for.',
    body: 'form',
    bodyLimit: FORM_BYTES,
    problems: ['permission_denied', 'rate_limited'],
  })
  async take(
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
    @PathText('uid') uid: string,
    @Origin() origin: RequestOrigin,
    @CorrelationId() correlationId: string,
    @AnyBody() body: unknown,
  ): Promise<void> {
    const form = new SignInForm(body);
    if (!isOwnForm(request) || !BrowserBinding.of(request, uid)?.knows(uid, form.get('token')))
      throw new Problem('permission_denied');
    const visit = await this.visit(request, response, uid, { origin, correlationId });
    await this.answer(visit, () => this.steps.take(visit, form));
  }

  /** @throws InteractionNotFound for one that is over, or another browser's */
  private async visit(
    request: IncomingMessage,
    response: ServerResponse,
    uid: string,
    about: Pick<Visit, 'origin' | 'correlationId'>,
  ): Promise<Visit> {
    const interaction = await this.interactions.read(request, response);
    const browser = BrowserBinding.of(request, uid) ?? BrowserBinding.fresh(response);
    const { name, branding } = await this.organizations.lookOf(interaction.client.organizationId);
    const { organizationId } = interaction;
    const within = organizationId === undefined ? '' : (await this.organizations.lookOf(organizationId)).name;
    const frame = {
      language: languageOf(interaction.params['ui_locales'], request.headers['accept-language']),
      application: interaction.client.name,
      organization: name,
      branding,
      action: `/oauth/interactions/${encodeURIComponent(uid)}`,
    };
    return {
      ...about,
      request,
      response,
      interaction,
      browser,
      within,
      frameFor: (known = browser) => ({ ...frame, token: known.tokenFor(uid) }),
    };
  }

  /** A sign-in that is over leads to where it led, whatever is asked of it. */
  private async answer(visit: Visit, step: () => Promise<Outcome>): Promise<void> {
    const { request, response, interaction } = visit;
    const outcome = interaction.leadsTo === undefined ? await step() : undefined;
    if (outcome && 'page' in outcome) {
      sendPage(response, outcome.page);
      return;
    }
    const url = outcome
      ? await this.interactions.end(request, response, outcome.result, outcome.browser ?? visit.browser)
      : interaction.leadsTo;
    sendPage(response, leavingPage(visit.frameFor(), url ?? ''));
  }
}
