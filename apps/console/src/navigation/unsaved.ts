/** Which forms somebody has written into and not sent; by events of the page, so that no form has to tell. */

type State = 'written' | 'sent';

/** Forms that ask something and keep nothing say so by this attribute. */
const KEEPS_NOTHING = '[data-keeps-nothing], [role=search]';
/** What a form shows whose sending was refused. */
const REFUSED = '[role=alert], [aria-invalid=true]';

const forms = new Map<HTMLFormElement, State>();

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
  };
}

/** Tells whether a place holds a form whose text would be lost with it. */
export function isUnsaved(place: Node & ParentNode): boolean {
  return unsavedIn(place).length > 0;
}

/** What was written in a place is given up. */
export function giveUp(place: Node & ParentNode): void {
  for (const form of unsavedIn(place)) forms.delete(form);
}

function unsavedIn(place: Node & ParentNode): HTMLFormElement[] {
  for (const form of forms.keys()) if (!form.isConnected) forms.delete(form);
  return [...forms]
    .filter(([form, state]) => place.contains(form) && (state === 'written' || form.querySelector(REFUSED)))
    .map(([form]) => form);
}
