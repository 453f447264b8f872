import { Admission, type Pending } from './admission.js';
import type { RouteClass } from './route-classes.js';

/** Requests that a module is asked at once; the others wait for a connection. */
const CONNECTIONS = 128;

interface Asked {
  readonly pending: Pending;
  readonly since: number;
  /** Milliseconds of work left for it; then it waits for `naturalMs`. */
  left: number;
  endsAt: number | undefined;
}

/** A module and its callers for a while. */
export interface Scene {
  ms: number;
  perSecond: number;
  /** Milliseconds that one request takes of the module's only processor. */
  workMs: number;
  /** Milliseconds for which the module waits for others besides, for each request. */
  naturalMs?: number;
  route?: RouteClass;
  address?: string;
}

/** Outcome of the requests of a scene. */
export interface Told {
  accepted: number[];
  refused: number;
}

/** A module that does one thing after the other, behind an admission, in a time of its own: a step is a millisecond. */
export class Crowd {
  now = 0;
  /** Milliseconds that a turn of the gateway's own loop takes. */
  turnMs = 0;
  readonly admission = new Admission(
    () => this.now,
    (run) => this.turns.push({ at: this.now + this.turnMs, run }),
  );
  private readonly turns: { at: number; run: () => void }[] = [];
  private asked: Asked[] = [];
  private due = 0;

  /** Asks so many at once. How many were refused. */
  burst(count: number): number {
    const told: Told = { accepted: [], refused: 0 };
    for (let n = 0; n < count; n += 1) this.ask({}, told);
    return told.refused;
  }

  play(scene: Scene): Told {
    const told: Told = { accepted: [], refused: 0 };
    for (const end = this.now + scene.ms; this.now < end; this.now += 1) {
      for (this.due += scene.perSecond / 1_000; this.due >= 1; this.due -= 1) this.ask(scene, told);
      this.work(scene, told);
      for (const { run } of this.turns.splice(0, this.turns.filter(({ at }) => at <= this.now).length)) run();
    }
    return told;
  }

  private ask({ route = 'ingestion', address = '192.0.2.1' }: Partial<Scene>, told: Told): void {
    if (!this.admission.admits(route, address)) return void (told.refused += 1);
    const since = this.now;
    const pending = this.admission.begin(route, address, () => {
      const at = this.asked.findIndex((one) => one.pending === pending);
      if (at < CONNECTIONS) return false;
      this.asked.splice(at, 1);
      told.refused += 1;
      return true;
    });
    this.asked.push({ pending, since, left: 1, endsAt: undefined });
  }

  private work({ workMs, naturalMs = 3 }: Scene, told: Told): void {
    let free = 1 / workMs;
    for (const one of this.asked) {
      const spent = Math.min(free, one.left);
      one.left -= spent;
      free -= spent;
      if (one.left <= 1e-9) one.endsAt ??= this.now + naturalMs;
      if (free <= 1e-9) break;
    }
    const over = this.asked.filter(({ endsAt }) => endsAt !== undefined && endsAt <= this.now);
    this.asked = this.asked.filter((one) => !over.includes(one));
    for (const { pending, since } of over) {
      told.accepted.push(this.now - since);
      this.admission.answered(pending);
    }
  }
}

/** The value below which that part of them lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * part)] ?? NaN;
}
