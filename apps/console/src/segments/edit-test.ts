import { isNumberText, plainOf, writeNumber } from '../ui/number-text.ts';
import { isWindow } from './duration.ts';
import type { AttributeLeaf, ConsentLeaf, Draft, EventLeaf, NewKey, Op, TestDraft } from './rule.ts';

const NOTHING: Draft = { as: 'text', text: '' };
/** The operators that ask what comes before what. */
const ORDERED: readonly Op[] = ['gt', 'gte', 'lt', 'lte'];
const YES: Draft = { as: 'boolean', text: 'true' };

/** Another operator; what was typed stays as far as the operator can be asked with it. */
export function withOp({ op: before, drafts }: TestDraft, op: Op): TestDraft {
  const [first = NOTHING] = drafts;
  // What another operator's value means nothing as: a window, or that it is there at all.
  const kept = before === 'exists' || before === 'within_last' ? NOTHING : first;
  switch (op) {
    case 'in':
      return { op, drafts: drafts.length > 0 && kept === first ? drafts : [kept] };
    case 'exists':
      return { op, drafts: [first.as === 'boolean' ? first : YES] };
    case 'within_last':
      return { op, drafts: [{ as: 'text', text: isWindow(first.text) ? first.text : 'P30D' }] };
    case 'prefix':
      return { op, drafts: [{ as: 'text', text: kept.typed ?? kept.text }] };
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return { op, drafts: [kept.as === 'boolean' ? NOTHING : kept] };
    default:
      return { op, drafts: [kept] };
  }
}

/** What a value can be for an operator. */
export function kindsFor(op: Op): readonly Draft['as'][] {
  if (op === 'prefix') return ['text'];
  return ORDERED.includes(op) ? ['text', 'number'] : ['text', 'number', 'boolean'];
}

/** Returns the text of a value's field: what was typed, else the number as the locale writes it. */
export function shown({ as, text, typed: before }: Draft, locale: string): string {
  return before ?? (as === 'number' ? writeNumber(text, locale) : text);
}

/**
 * A value as it is being typed. What it is read as follows the text, so that `12.990` is a number in Spanish, until a
 * person has chosen otherwise.
 */
export function typed(draft: Draft, text: string, op: Op, locale: string): Draft {
  const { as } = draft;
  const before = shown(draft, locale);
  const follows =
    as !== 'boolean' && op !== 'prefix' && text !== '' && (before === '' || as === kindOf(before, locale));
  return draftAs(follows ? kindOf(text, locale) : as, text, locale);
}

function kindOf(text: string, locale: string): 'text' | 'number' {
  return isNumberText(text, locale) ? 'number' : 'text';
}

function draftAs(as: 'text' | 'number' | 'boolean', text: string, locale: string): Draft {
  if (as !== 'number') return { as, text };
  const plain = plainOf(text, locale);
  return { as, text: plain, ...(plain === text ? {} : { typed: text }) };
}

/** The same text, read as something else. */
export function readAs(draft: Draft, as: Draft['as'], locale: string): Draft {
  const text = shown(draft, locale);
  return draftAs(as, as === 'boolean' ? String(text === 'true') : text, locale);
}

/** A day, or a time of one, as the platform writes it. */
const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ].*)?$/;

/** Tells whether texts other than dates are put in order: `10` comes before `9`. */
export function ordersTexts({ op, drafts }: TestDraft): boolean {
  const isDate = (text: string): boolean => DATE.test(text) && !Number.isNaN(Date.parse(text));
  return ORDERED.includes(op) && drafts.some(({ as, text }) => as === 'text' && text !== '' && !isDate(text));
}

export function newAttribute(newKey: NewKey): AttributeLeaf {
  return { key: newKey(), kind: 'attribute', path: '', op: 'eq', drafts: [NOTHING] };
}

export function newConsent(newKey: NewKey): ConsentLeaf {
  return { key: newKey(), kind: 'consent', purpose: 'marketing', channel: undefined, status: 'granted' };
}

export function newEvent(newKey: NewKey): EventLeaf {
  return {
    key: newKey(),
    kind: 'event',
    event: '',
    where: undefined,
    count: { op: 'gte', text: '1' },
    within: undefined,
  };
}
