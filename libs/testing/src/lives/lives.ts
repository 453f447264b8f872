import type { Act, Pick } from './acts.js';
import { Life } from './life.js';
import type { LifeWorld } from './life-world.js';

/** Numbers that follow from a seed: mulberry32. */
function picks(seed: number): Pick {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** The acts of one life. */
const ACTS_OF_ONE = 12;

/** How lives pass. */
interface Course {
  readonly seed: number;
  /** Ends the run when it answers true. */
  readonly enough: (pairs: Pairs, lives: number) => boolean;
}

/**
 * Lets lives pass until they are enough, and holds each against the model.
 * @throws Error with what was done in the life that came to something else
 */
export async function live(world: LifeWorld, { seed, enough }: Course): Promise<Pairs> {
  const pairs = new Pairs(world.acts);
  for (let lives = 0; !enough(pairs, lives); lives += 1) {
    const pick = picks(seed + lives);
    const life = new Life(world, await world.anOrganization(), pick);
    try {
      await life.begin();
      let before: Act | undefined;
      for (let acts = 0; acts < ACTS_OF_ONE; acts += 1) {
        const act = pairs.next(before, pick);
        await life.take(act);
        pairs.note(before, act);
        before = act;
      }
      await life.check();
    } catch (cause) {
      throw new Error(`Life ${String(lives)} of seed ${String(seed)}: ${life.story}`, { cause });
    }
  }
  return pairs;
}

/** Counts how often each ordered pair of acts has met in a life. */
export class Pairs {
  private readonly met = new Map<string, number>();

  constructor(private readonly acts: readonly Act[]) {}

  /** An act that has met the one before least; of several, as the seed has it. */
  next(before: Act | undefined, pick: Pick): Act {
    const counts = this.acts.map((act) => this.count(before, act));
    const least = Math.min(...counts);
    const rarest = this.acts.filter((_, at) => counts[at] === least);
    return rarest[pick(rarest.length)] ?? 'event';
  }

  note(before: Act | undefined, act: Act): void {
    if (before !== undefined) this.met.set(`${before} > ${act}`, this.count(before, act) + 1);
  }

  count(before: Act | undefined, act: Act): number {
    return this.met.get(`${before ?? ''} > ${act}`) ?? 0;
  }

  /** The least that any pair has met. */
  get least(): number {
    return Math.min(...this.counts());
  }

  /** Tells how many pairs have met, how often the rarest, and each. */
  get told(): string {
    const counts = this.counts();
    const rows = this.acts.map(
      (one) =>
        `${one.padEnd(14)}${this.acts.map((other) => String(this.count(one, other)).padStart(4)).join('')}`,
    );
    const met = `${String(this.met.size)} of ${String(counts.length)} ordered pairs met`;
    const least = `the rarest ${String(this.least)} times, ${String(counts.reduce((sum, count) => sum + count, 0))} in all`;
    return [`${met}, ${least}`, ...rows].join('\n');
  }

  private counts(): number[] {
    return this.acts.flatMap((one) => this.acts.map((other) => this.count(one, other)));
  }
}
