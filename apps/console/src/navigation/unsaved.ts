/** Tells which forms somebody has written into and not sent, by events of the page: no form has to tell. */

import { forgetDraft, isDraftKept } from '../ui/kept-drafts.tsx';

type State = 'written' | 'sent';

/** Forms that ask something and keep nothing say so by this attribute. */
const KEEPS_NOTHING = '[data-keeps-nothing], [role=search]';
/** Marks in a form whose sending was refused. */
const REFUSED = '[role=alert], [aria-invalid=true], [data-unsent]';
/** Marks text that the platform tells once, and that somebody may not have copied yet. */
const SHOWN_ONCE = '[data-shown-once]';

const forms = new Map<HTMLFormElement, State>();
/** Places whose text was shown once and may go. */
let givenUp = new WeakSet<Element>();

function noteWriting({ target }: Event): void {
  if (!(target instanceof HTMLElement) || target.closest(KEEPS_NOTHING) !== null) return;
  // Takes effect at once.
  if (target.matches('[role=switch], [type=search]')) return;
  const form = target.closest('form');
  if (form !== null) forms.set(form, 'written');
}

function noteSending({ target }: Event): void {
  if (target instanceof HTMLFormElement && forms.has(target)) forms.set(target, 'sent');
}

/** Begins to look at what is written. @returns what ends that */
export function watchWriting(page: Document): () => void {
  page.addEventListener('input', noteWriting, true);
  page.addEventListener('submit', noteSending, true);
  return () => {
    page.removeEventListener('input', noteWriting, true);
    page.removeEventListener('submit', noteSending, true);
    forms.clear();
    givenUp = new WeakSet();
  };
}

/** Tells whether a place holds what would be lost with it: a form's text, or a secret that is shown once. */
export function isUnsaved(place: Node & ParentNode): boolean {
  return unsavedIn(place).length > 0 || holdsSecret(place);
}

/** Tells whether a place shows a secret that cannot be read again. */
export function holdsSecret(place: Node & ParentNode): boolean {
  return secretsIn(place).length > 0;
}

/** Tells whether all that would be lost with a place is kept as drafts, which come back with their forms. */
export function isKept(place: Node & ParentNode): boolean {
  return !holdsSecret(place) && unsavedIn(place).every(({ dataset }) => isDraftKept(dataset['draft'] ?? ''));
}

/** Lets a place go whose drafts are kept. */
export function setAside(place: Node & ParentNode): void {
  for (const form of unsavedIn(place)) forms.delete(form);
}

/** Gives up what was written or shown in a place. */
export function giveUp(place: Node & ParentNode): void {
  for (const { dataset } of unsavedIn(place)) forgetDraft(dataset['draft'] ?? '');
  setAside(place);
  for (const secret of secretsIn(place)) givenUp.add(secret);
}

function secretsIn(place: Node & ParentNode): Element[] {
  return [...place.querySelectorAll(SHOWN_ONCE)].filter((secret) => !givenUp.has(secret));
}

function unsavedIn(place: Node & ParentNode): HTMLFormElement[] {
  for (const form of forms.keys()) if (!form.isConnected) forms.delete(form);
  return [...forms]
    .filter(([form, state]) => place.contains(form) && (state === 'written' || form.querySelector(REFUSED)))
    .map(([form]) => form);
}
