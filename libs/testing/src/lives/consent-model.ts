/** What somebody said, in the words of the model: it holds for all channels of one purpose. */
export type Word = 'granted' | 'withdrawn';

/** What holds of a contact; fuzzy where the specification leaves open whether a late grant counts. */
export interface Held {
  readonly word: Word | undefined;
  readonly fuzzy: boolean;
}

type Entry =
  | {
      readonly kind: 'say';
      readonly contact: number;
      readonly word: Word;
      readonly at: number;
      readonly late: boolean;
    }
  | { readonly kind: 'open'; readonly contact: number }
  | { readonly kind: 'merge'; readonly id: string; readonly survivor: number; readonly merged: number };

interface State {
  word: Word | undefined;
  fuzzy: boolean;
  /** The latest that each word was said for, by this contact and those in it. */
  latest: Map<Word, number>;
  merged: boolean;
}

/**
 * The consents of people who merge and part, in the plainest words (core.md §§4, 5): a log of what was said and which
 * merges stand. An undone merge is taken out of the log, as if it had never been, and what was refused since is said of
 * the other too; what holds is what the log comes to.
 */
export class ConsentModel {
  private log: Entry[] = [];
  /** Of contacts that have ever merged: what merges repeated stands against grants that come late. */
  private readonly touched = new Set<number>();

  /** @param late dated before now: a form that was filled in earlier */
  say(contact: number, word: Word, at: number, late: boolean): void {
    this.log.push({ kind: 'say', contact, word, at, late });
  }

  /** Something is said that ends by itself: until the next word whatever holds may hold. */
  leaveOpen(contact: number): void {
    this.log.push({ kind: 'open', contact });
  }

  merge(id: string, survivor: number, merged: number): void {
    this.touched.add(survivor).add(merged);
    this.log.push({ kind: 'merge', id, survivor, merged });
  }

  undo(id: string): void {
    const at = this.log.findIndex((entry) => entry.kind === 'merge' && entry.id === id);
    const merge = this.log[at];
    if (merge?.kind !== 'merge') throw new Error('there is no such merge');
    const since = this.log.slice(at + 1).flatMap((entry) => {
      const shared = entry.kind === 'say' && entry.contact === merge.survivor && entry.word === 'withdrawn';
      return shared ? [entry, { ...entry, contact: merge.merged }] : [entry];
    });
    this.log = [...this.log.slice(0, at), ...since];
  }

  /** What holds of each contact that is in no other. */
  held(contacts: number): Held[] {
    const states = Array.from({ length: contacts }, (_, contact): State => ({
      word: undefined,
      fuzzy: false,
      latest: new Map(),
      merged: this.touched.has(contact),
    }));
    for (const entry of this.log) {
      if (entry.kind === 'say') this.apply(states[entry.contact], entry);
      else if (entry.kind === 'open') open(states[entry.contact]);
      else join(states[entry.survivor], states[entry.merged]);
    }
    return states;
  }

  private apply(state: State | undefined, { word, at, late }: Extract<Entry, { kind: 'say' }>): void {
    if (!state) return;
    const against = state.latest.get(word === 'granted' ? 'withdrawn' : 'granted') ?? -Infinity;
    state.latest.set(word, Math.max(at, state.latest.get(word) ?? -Infinity));
    if (!late) Object.assign(state, { word, fuzzy: false });
    else if (state.word === undefined) state.word = word;
    else if (at <= against || state.word === word) return;
    // A grant that comes late does not lift what a merge has repeated since; whether it was repeated is left open.
    else if (word === 'granted' && state.merged) state.fuzzy = true;
    else state.word = word;
  }
}

function open(state: State | undefined): void {
  if (state) state.fuzzy = true;
}

/** Of two that merge the stricter holds. */
function join(survivor: State | undefined, merged: State | undefined): void {
  if (!survivor || !merged) return;
  const words = [survivor.word, merged.word];
  survivor.fuzzy ||= merged.fuzzy;
  survivor.word = words.includes('withdrawn') ? 'withdrawn' : words.find((word) => word !== undefined);
  for (const [word, at] of merged.latest)
    survivor.latest.set(word, Math.max(at, survivor.latest.get(word) ?? -Infinity));
}
