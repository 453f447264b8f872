import { KINDS, type Mutation } from './mutations.ts';

/** A fault in a source, pinned by the text of its line: lines move. */
export interface Mutant extends Mutation {
  readonly path: string;
  readonly line: number;
  /** The line before and after, without the blanks around it. */
  readonly before: string;
  readonly after: string;
}

/** A source and the faults that can be put into it. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly mutations: readonly Mutation[];
}

/** Draws so many faults: a kind, each as often as the others, then one of all that are of it. The same for a seed. */
export function draw(sources: readonly Source[], count: number, seed: number): Mutant[] {
  const next = random(seed);
  const pools = KINDS.map((kind) =>
    sources.flatMap((source) =>
      source.mutations.filter((each) => each.kind === kind).map((mutation) => ({ source, mutation })),
    ),
  ).filter((pool) => pool.length > 0);
  const drawn: Mutant[] = [];
  while (drawn.length < count && pools.some((pool) => pool.length > 0)) {
    const pool = pools[drawn.length % pools.length] ?? [];
    const [chosen] = pool.splice(Math.floor(next() * pool.length), 1);
    if (chosen) drawn.push(mutantOf(chosen.source, chosen.mutation));
    else pools.splice(pools.indexOf(pool), 1);
  }
  return drawn;
}

function mutantOf({ path, text }: Source, mutation: Mutation): Mutant {
  const begin = text.lastIndexOf('\n', mutation.start - 1) + 1;
  const rest = text.indexOf('\n', mutation.end);
  const end = rest === -1 ? text.length : rest;
  const after = text.slice(begin, mutation.start) + mutation.replacement + text.slice(mutation.end, end);
  return {
    ...mutation,
    path,
    line: text.slice(0, mutation.start).split('\n').length,
    before: text.slice(begin, end).trim(),
    after: after.trim(),
  };
}

/** Mulberry32: numbers from 0 to 1, the same for a seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
