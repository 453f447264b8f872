import type { Module, PlatformUnderTest } from '@customer-platform/testing';
import { readFileSync } from 'node:fs';
import { FULL, type TextShape } from './hostile-shapes.fixture.js';

interface Named {
  readonly name: string;
}

/** Sends one request. @returns its status */
export type Call = () => Promise<number>;

/** What is sent, each part of it filled to this share of what it may hold. */
type CallsOf = (share: number) => readonly Call[];

/** Both processors have work; more at once would only wait. */
const AT_ONCE = 4;

/**
 * No time is asserted, for machines differ: work that is in proportion to what is sent is four times as much for four
 * times the bytes, on each of them, work with its square sixteen times. Below so much CPU nothing is judged, because
 * neither is then told from what else the processes do. A body that is filled to an eighth needs a part of it.
 */
const JUDGED_FROM_S = FULL ? 1 : 0.25;
const MOST_TIMES = 6;
const QUARTER = 1 / 4;
/** What is odd once may be another's work; a square is one each time. */
const TRIES = 3;
/** A head holds 8 to 16 KiB. What looks odd in one of several is sent again and again, one of them after the other. */
const HEAD_ODD_FROM_S = 0.05;
const HEAD_ODD_TIMES = 1.5;
const HEADS_OF_ONE = 20;
const HEAD_JUDGED_FROM_S = 0.1;
/** What no request may hold a loop. Longer once may be the machine's doing, or several requests' in one turn. */
const LONGEST_HOLD_MS = 50;

/** Holds what hostile inputs cost against what a quarter of them costs. */
export class Judge {
  private readonly holds = new Map<string, { heldMs: number; by: string }>();

  constructor(private readonly platform: PlatformUnderTest) {}

  /** The longest that each route held a loop, the worst of them first. */
  get report(): string {
    const lines = [...this.holds].sort(([, one], [, other]) => other.heldMs - one.heldMs);
    return lines
      .map(([route, { heldMs, by }]) => `${heldMs.toFixed(0).padStart(6)} ms  ${route}  (${by})\n`)
      .join('');
  }

  /** Bodies: squares of what they hold are tenths of seconds, or seconds. */
  async bodies<Shape extends Named>(
    route: string,
    module: Module,
    shapes: readonly Shape[],
    callsOf: (shape: Shape, share: number) => readonly Call[],
  ): Promise<void> {
    for (const shape of shapes) {
      const ofShape: CallsOf = (share) => callsOf(shape, share);
      const whole = await this.costOf(route, shape.name, module, ofShape(1));
      if (FULL) await this.noteHoldOfOne(route, shape.name, module, ofShape(1));
      if (whole < JUDGED_FROM_S) continue;
      await this.compare(route, shape.name, module, { callsOf: ofShape, from: JUDGED_FROM_S, whole });
    }
  }

  /**
   * Queries and headers, which are small beside what a request costs by itself: they are held against requests that are
   * filled with next to nothing, all shapes together, then each of them, then each request by itself.
   */
  async heads(
    route: string,
    module: Module,
    shapes: readonly TextShape[],
    callsOf: (shape: TextShape, share: number) => readonly Call[],
  ): Promise<void> {
    const all = await this.costOf(
      route,
      'all shapes',
      module,
      shapes.flatMap((shape) => callsOf(shape, 1)),
    );
    const bare = await this.costOf(
      route,
      'nothing',
      module,
      shapes.slice(0, 2).flatMap((shape) => callsOf(shape, 0)),
    );
    if (all < HEAD_ODD_FROM_S + (HEAD_ODD_TIMES * bare * shapes.length) / 2) return;
    for (const shape of shapes)
      await this.headsOf(route, module, shape.name, {
        bare: bare / 2,
        callsOf: (share) => callsOf(shape, share),
      });
  }

  /** The longest that a loop was held since this was asked last. */
  async noteHold(route: string, by: string, module: Module): Promise<void> {
    this.note(route, by, await this.holdOf(module));
  }

  /** Where the loop was held for long: the longest hold of the same calls one after the other, the least of three. */
  private async noteHoldOfOne(
    route: string,
    by: string,
    module: Module,
    calls: readonly Call[],
  ): Promise<void> {
    let heldMs = await this.holdOf(module);
    for (let tries = 0; heldMs > LONGEST_HOLD_MS && tries < TRIES; tries += 1) {
      for (const call of calls) await call();
      heldMs = Math.min(heldMs, await this.holdOf(module));
    }
    this.note(route, by, heldMs);
  }

  private note(route: string, by: string, heldMs: number): void {
    if (heldMs > (this.holds.get(route)?.heldMs ?? -Infinity)) this.holds.set(route, { heldMs, by });
  }

  private async holdOf(module: Module): Promise<number> {
    const text = await (await fetch(`${this.platform.urlOf(module)}/metrics`)).text();
    const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1];
    // The histogram looks every 10 ms here (EVENT_LOOP_LOOK_MS in platform-under-test.ts), which is in what it tells.
    return Number(seconds) * 1_000 - 10;
  }

  private async headsOf(
    route: string,
    module: Module,
    shape: string,
    { callsOf, bare }: { callsOf: CallsOf; bare: number },
  ): Promise<void> {
    const whole = await this.costOf(route, shape, module, callsOf(1));
    if (whole < bare + HEAD_ODD_FROM_S) return;
    for (const index of callsOf(0).keys()) {
      const many: CallsOf = (share) =>
        Array.from({ length: HEADS_OF_ONE }, () => callsOf(share).slice(index, index + 1)).flat();
      await this.compare(route, shape, module, {
        callsOf: many,
        from: HEAD_JUDGED_FROM_S,
      });
    }
  }

  /** CPU seconds of the module and of the gateway before it for all of these. */
  private async costOf(
    route: string,
    shape: string,
    module: Module,
    calls: readonly Call[],
  ): Promise<number> {
    const before = this.spentBy(module);
    const statuses = new Set<number>();
    const left = [...calls];
    const client = async (): Promise<void> => {
      for (let call = left.pop(); call; call = left.pop()) statuses.add(await call());
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    // 503 is an answer in time; a call beyond its rate would try nothing.
    const failed = [...statuses].filter((status) => (status >= 500 && status !== 503) || status === 429);
    expect([route, shape, failed]).toEqual([route, shape, []]);
    return this.spentBy(module) - before;
  }

  private async compare(
    route: string,
    shape: string,
    module: Module,
    { callsOf, from, whole: known }: Comparison,
  ): Promise<void> {
    let [whole, quarter, bare] = [known ?? Infinity, Infinity, Infinity];
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (known === undefined || tries > 0)
        whole = Math.min(whole, await this.costOf(route, shape, module, callsOf(1)));
      quarter = Math.min(quarter, await this.costOf(route, shape, module, callsOf(QUARTER)));
      // What the calls cost by themselves, warm by now: whatever is filled costs it too.
      bare = Math.min(bare, quarter, await this.costOf(route, 'nothing', module, callsOf(0)));
      if (whole - bare <= from + MOST_TIMES * (quarter - bare)) return;
    }
    const costs = `${whole.toFixed(2)} s of CPU, a quarter of it ${quarter.toFixed(2)} s`;
    expect([route, shape, costs]).toEqual([route, shape, 'in proportion']);
  }

  private spentBy(module: Module): number {
    return [module, 'gateway'].reduce(
      (sum, app) => sum + cpuSecondsOf(this.platform.processes[app]?.pid ?? 0),
      0,
    );
  }
}

interface Comparison {
  readonly callsOf: CallsOf;
  readonly from: number;
  /** What was measured already. */
  readonly whole?: number;
}

/** Of all threads of a process, in steps of 10 ms; asking costs it nothing. Linux only: elsewhere nothing is judged. */
function cpuSecondsOf(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
      .split(') ')
      .at(-1)
      ?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
