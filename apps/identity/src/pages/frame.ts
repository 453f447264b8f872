import type { Branding } from '../vocabulary/organizations/branding.js';
import { html, type Html, type Piece } from './html.js';
import type { Language } from './languages.js';

/** What all pages of one sign-in have in common. */
export interface Frame {
  readonly language: Language;
  /** The name of the OAuth client that asks. */
  readonly application: string;
  /** The name of the organization whose client it is. */
  readonly organization: string;
  /** How that organization's pages look. */
  readonly branding: Branding;
  /** Where forms go. */
  readonly action: string;
  /** Proves that a form is from this page in this browser. */
  readonly token: string;
}

/** A name that somebody else chose, kept from running into the sentence whichever way it is written. */
export function named(name: string): Html {
  return html`<bdi>${name}</bdi>`;
}

/** What was wrong with the last try, read out at once by screen readers. */
export function alert(text: string | undefined): Piece {
  return text !== undefined && html`<p class="alert" role="alert" id="alert">${text}</p>`;
}

/** A form of a step, with what proves where it comes from. */
export function stepForm(
  { action, token }: Pick<Frame, 'action' | 'token'>,
  step: string,
  body: Piece,
): Html {
  return html`<form method="post" action="${action}">
    <input type="hidden" name="token" value="${token}" />
    <input type="hidden" name="step" value="${step}" />
    ${body}
  </form> `;
}

/** Another way on, as a button of its own form. */
export function otherStep(
  frame: Pick<Frame, 'action' | 'token'>,
  step: string,
  text: string,
  style = 'second',
): Html {
  return stepForm(frame, step, html`<button class="${style}" type="submit">${text}</button>`);
}

/** A field with its label; `attributes` are this code's, never anybody's. */
export function field(name: string, label: string, attributes: Html): Html {
  return html`<label for="${name}">${label}</label>
    <input id="${name}" name="${name}" ${attributes} /> `;
}

/** The attributes of a field that was filled in wrong. */
export function invalid(error: string | undefined): Piece {
  return error !== undefined && html` aria-invalid="true" aria-describedby="alert"`;
}
