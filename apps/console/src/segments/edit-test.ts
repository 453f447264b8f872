import { isWindow } from './duration.ts';
import type { AttributeLeaf, ConsentLeaf, Draft, EventLeaf, NewKey, Op, TestDraft } from './rule.ts';

const NOTHING: Draft = { as: 'text', text: '' };
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
      return { op, drafts: [{ as: 'text', text: kept.text }] };
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
  return ['gt', 'gte', 'lt', 'lte'].includes(op) ? ['text', 'number'] : ['text', 'number', 'boolean'];
}

/**
 * A value as it is being typed. What it is read as follows the text, so that `12990` is a number, until a person has
 * chosen otherwise.
 */
export function typed({ as, text: before }: Draft, text: string, op: Op): Draft {
  const follows = as !== 'boolean' && text !== '' && (before === '' || as === kindOf(before));
  return { as: follows && op !== 'prefix' ? kindOf(text) : as, text };
}

/** What a text most likely is; a postcode or a telephone number, whose zeros and signs count, is a text. */
function kindOf(text: string): 'text' | 'number' {
  return String(Number(text)) === text && Number.isFinite(Number(text)) ? 'number' : 'text';
}

/** The same text, read as something else. */
export function readAs({ text }: Draft, as: Draft['as']): Draft {
  return { as, text: as === 'boolean' ? String(text === 'true') : text };
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
