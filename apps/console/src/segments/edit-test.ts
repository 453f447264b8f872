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
