import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuditContext } from '@customer-platform/audit';
import type { RequestOrigin } from '@customer-platform/http';
import type { Interaction, InteractionResult } from '../oauth/interactions.js';
import type { Frame } from '../pages/frame.js';
import { messagesOf } from '../pages/languages.js';
import type { Page } from '../pages/page.js';
import { emailPage } from '../pages/sign-in-pages.js';
import type { BrowserBinding } from '../pages/browser-binding.js';

/** One request of a browser within an interaction. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly interaction: Interaction;
  readonly browser: BrowserBinding;
  readonly origin: RequestOrigin;
  readonly correlationId: string;
  /** What the organization is called in which the client asks to act. */
  readonly within: string;
  /** What the pages have in common; made for the browser as it is known when the page is made. */
  frameFor(browser?: BrowserBinding): Frame;
}

/** The outcome of a visit: a page, or the end of the interaction, by the secret that the browser has been given in it. */
export type Outcome =
  { readonly page: Page } | { readonly result: InteractionResult; readonly browser?: BrowserBinding };

export function start(visit: Visit): Page {
  const hint = visit.interaction.params['login_hint'];
  return emailPage(visit.frameFor(), { email: typeof hint === 'string' ? hint.slice(0, 254) : '' });
}

/** What was shown before is gone: its time was over, or the user was suspended or given a new password meanwhile. */
export function startAnew(visit: Visit): Page {
  const frame = visit.frameFor();
  return emailPage(frame, { error: messagesOf(frame.language).signIn.anew });
}

/** The proof that somebody has the token of an invitation, where the request carries one. */
export function invitationIn({ invitation }: Interaction['params']): string | undefined {
  return typeof invitation === 'string' ? invitation : undefined;
}

export function noMembership(): Outcome {
  const description = 'The user is not a member of an organization that this client serves.';
  return { result: { error: 'access_denied', description } };
}

/** Where the browser goes on, as a person reads it. */
export function hostOf({ redirect_uri: uri }: Interaction['params']): string {
  const url = typeof uri === 'string' ? URL.parse(uri) : null;
  // An application on the person's own machine is known by its scheme; whatever stands for a host there says nothing.
  return url === null ? '' : /^https?:$/.test(url.protocol) ? url.host : url.protocol;
}

export function contextOf(visit: Visit, organizationId: string, userId: string): AuditContext {
  const { origin, correlationId } = visit;
  return { ...origin, organizationId, correlationId, actor: { type: 'user', id: userId } };
}
