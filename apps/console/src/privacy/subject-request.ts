import type { BodyOf, ItemOf } from '@customer-platform/client';
import type { Tone } from '../ui/badge.tsx';
import type { PrivacySearch } from './search-params.ts';

/** What a person has asked for by law. */
export type SubjectRequest = ItemOf<'/v1/core/subject-requests'>;
export type NewRequest = BodyOf<'post', '/v1/core/subject-requests'>;
/** One of verification, extension, rejection and completion. */
export type RequestChange = BodyOf<'patch', '/v1/core/subject-requests/{id}'>;

/** In the order in which the form offers them. */
export const OFFERED_TYPES = [
  'access',
  'portability',
  'erasure',
  'rectification',
  'opposition',
  'blocking',
] as const;

/** What staff does and then says; the platform does the others. */
const BY_HAND: SubjectRequest['type'][] = ['rectification', 'opposition', 'blocking'];

/** Whether staff carries it out. */
export function isByHand({ type }: Pick<SubjectRequest, 'type'>): boolean {
  return BY_HAND.includes(type);
}

/** Whether an archive answers it. */
export function isArchived({ type }: Pick<SubjectRequest, 'type'>): boolean {
  return type === 'access' || type === 'portability';
}

/** The languages in which an archive explains itself. */
export const LOCALES = ['es', 'en'] as const;

export const GROUNDS = [
  'not_verified',
  'not_the_person',
  'legal_obligation',
  'unfounded',
  'repeated',
  'other',
] as const;

export const STATE_TONES = {
  verifying: 'accent',
  in_progress: 'accent',
  completed: 'good',
  rejected: 'neutral',
} as const satisfies Record<SubjectRequest['state'], Tone>;

const OPEN: SubjectRequest['state'][] = ['verifying', 'in_progress'];

/** Whether somebody still waits for it. */
function isOpen({ state }: Pick<SubjectRequest, 'state'>): boolean {
  return OPEN.includes(state);
}

/** How the list is asked for, at an instant: what is due first stands first. */
export function requestsQuery({ type, state, overdue, closed, contact_id }: PrivacySearch, now: string) {
  const open = overdue === true || closed !== true;
  return {
    type,
    contact_id,
    ...(state !== undefined && { state }),
    ...(open && (state === undefined || overdue === true) && { 'state[in]': OPEN }),
    ...(overdue === true && { 'due_at[lt]': now }),
    sort: 'due_at',
  };
}

/** What has to happen now, and by which modules. */
export interface NextStep {
  step:
    | 'verify'
    | 'erase'
    | 'refused'
    | 'gather'
    | 'carry_out'
    | 'hand_over'
    | 'residual'
    | 'completed'
    | 'rejected';
  modules: readonly string[];
}

/** What comes next of a request, at an instant. */
export function nextOf(request: SubjectRequest, now: Date): NextStep {
  const modulesIn = (states: readonly string[]): string[] =>
    request.receipts.filter(({ state }) => states.includes(state)).map(({ module }) => module);
  switch (request.state) {
    case 'verifying':
      return { step: 'verify', modules: [] };
    case 'rejected':
      return { step: 'rejected', modules: [] };
    case 'completed': {
      if (request.result !== null && isKept(request.result, now)) return { step: 'hand_over', modules: [] };
      const until = request.residual_until;
      return { step: until !== null && new Date(until) > now ? 'residual' : 'completed', modules: [] };
    }
    default: {
      if (isByHand(request)) return { step: 'carry_out', modules: [] };
      if (request.type !== 'erasure') return { step: 'gather', modules: [] };
      const refused = modulesIn(['refused']);
      if (refused.length > 0) return { step: 'refused', modules: refused };
      return { step: 'erase', modules: modulesIn(['pending', 'received']) };
    }
  }
}

/** What an archive shows: a person, and perhaps their national id in full. */
export const DOWNLOADS_NEED = ['core.contacts.read', 'core.contacts.read_national_id'] as const;

/** What shows the words about the person in a request; the API leaves them out for all others. */
export const WORDS_NEED = 'core.contacts.read';

/** Whether an archive is still there, at an instant. */
export function isKept({ expires_at: end }: NonNullable<SubjectRequest['result']>, now: Date): boolean {
  return new Date(end) > now;
}

/** The acts on a request, and which of them are open. */
type Acts = Record<'verify' | 'complete' | 'extend' | 'reject', boolean>;

/** What one may do with it, before the permission for it. */
export function actsOf(request: SubjectRequest): Acts {
  const verify = request.state === 'verifying';
  const complete = request.state === 'in_progress' && isByHand(request);
  return {
    verify,
    complete,
    extend: isOpen(request) && request.extension === null,
    reject: verify || complete,
  };
}

/** The form of a new request. */
export interface RequestDraft {
  type: NewRequest['type'];
  by: 'contact' | 'identity';
  contact: string;
  identityType: string;
  identityValue: string;
  received: string;
  /** Of an archive; empty for the person's own. */
  locale: '' | (typeof LOCALES)[number];
  /** Of a rectification: a line each, `field: value`. */
  corrections: string;
  /** Of an opposition: a line each. */
  purposes: string;
  note: string;
  /** The way in which the person was verified already; empty where that is still to come. */
  method: string;
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** What stands behind the first colon; nothing there: it should go. */
function correctionIn(line: string): { field: string; value: string | null } {
  const [field = '', ...rest] = line.split(':');
  const value = rest.join(':').trim();
  return { field: field.trim(), value: value === '' ? null : value };
}

/** As the API takes it: of what was not written, nothing. */
export function bodyOf(draft: RequestDraft): NewRequest {
  const { type, by, contact, identityType, identityValue, received, locale, note, corrections, purposes } =
    draft;
  const method = isVerified(draft) ? draft.method.trim() : '';
  return {
    type,
    ...(by === 'contact'
      ? { contact_id: contact }
      : { identity: { type: identityType.trim(), value: identityValue.trim() } }),
    ...(received !== '' && { received_at: received }),
    ...(locale !== '' && isArchived(draft) && { locale }),
    ...(type === 'rectification' && { corrections: linesOf(corrections).map(correctionIn) }),
    ...(type === 'opposition' && { purposes: linesOf(purposes) }),
    ...(note.trim() !== '' && { note: note.trim() }),
    ...(method !== '' && { verification: { method } }),
  };
}

/** Tells whether the person is verified with the request itself: only somebody who is shown can be. */
export function isVerified({ by, contact, method }: RequestDraft): boolean {
  return by === 'contact' && contact !== '' && method.trim() !== '';
}
