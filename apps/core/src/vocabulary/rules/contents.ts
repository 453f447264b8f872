import { containsText } from '@customer-platform/http';

/** So often a text is searched as it is; asked more often it is indexed, which costs as much as some hundred searches. */
const FEW = 256;

/**
 * As `contains`, for very many questions about the same few values: each costs what is looked for, and no longer
 * what is looked into.
 */
export class Contents {
  private readonly texts = new Map<string, { asked: number; index?: TextIndex }>();
  private readonly lists = new Map<unknown, Set<unknown>>();

  constructor(private readonly few = FEW) {}

  readonly contains = (actual: unknown, wanted: unknown): boolean => {
    if (typeof actual === 'string') return typeof wanted === 'string' && this.textContains(actual, wanted);
    return Array.isArray(actual) && this.setOf(actual).has(wanted);
  };

  private textContains(text: string, part: string): boolean {
    if (part.length > text.length) return false;
    const known = this.texts.get(text) ?? { asked: 0 };
    this.texts.set(text, known);
    known.asked += 1;
    if (known.asked <= this.few) return containsText(text, part);
    known.index ??= new TextIndex(text);
    return known.index.contains(part);
  }

  private setOf(list: readonly unknown[]): Set<unknown> {
    const known = this.lists.get(list) ?? new Set(list);
    this.lists.set(list, known);
    return known;
  }
}

/** A state of {@link TextIndex}: what may follow, the longest text that leads to it, and the state of its endings. */
interface State {
  readonly next: Map<number, State>;
  readonly length: number;
  link: State | undefined;
}

/** All that a text contains, as its suffix automaton: made, and as large, in proportion to the text. */
export class TextIndex {
  private readonly root: State = { next: new Map(), length: 0, link: undefined };

  constructor(text: string) {
    let last = this.root;
    for (let at = 0; at < text.length; at++) last = this.extend(last, text.charCodeAt(at));
  }

  contains(part: string): boolean {
    let state: State | undefined = this.root;
    for (let at = 0; at < part.length && state; at++) state = state.next.get(part.charCodeAt(at));
    return state !== undefined;
  }

  /** Adds one unit after all others; the state of the whole text. */
  private extend(last: State, unit: number): State {
    const whole: State = { next: new Map(), length: last.length + 1, link: this.root };
    let from: State | undefined = last;
    for (; from && !from.next.has(unit); from = from.link) from.next.set(unit, whole);
    const target = from?.next.get(unit);
    if (from && target) whole.link = target.length === from.length + 1 ? target : part(from, target, unit);
    return whole;
  }
}

/** Parts from a state the shorter texts that lead to it, which now end elsewhere too. */
function part(from: State, target: State, unit: number): State {
  const shorter: State = { next: new Map(target.next), length: from.length + 1, link: target.link };
  for (let at: State | undefined = from; at?.next.get(unit) === target; at = at.link)
    at.next.set(unit, shorter);
  target.link = shorter;
  return shorter;
}
