import { networkOf } from '@customer-platform/config';
import { WholeBodies } from './whole-bodies.js';

/** A request that waits for its caller longer than this counts against the caller's network, in milliseconds. */
const LATE_MS = 1_000;

/** What those that wait for their callers may take of the process. */
export interface Room {
  /** Of bodies that are on their way or wait for their module, and of answers that are not taken. */
  readonly bytes: number;
  /** Of those, in late ones of one network. */
  readonly bytesOfNetwork: number;
  /** Late ones at once, and those of one network: an IPv4 /24 or an IPv6 /64. */
  readonly late: number;
  readonly lateOfNetwork: number;
}

/** A sixth of what a pod has; a late one costs some 20 KiB beside its bytes. */
export const ROOM: Room = { bytes: 64 << 20, bytesOfNetwork: 16 << 20, late: 2_048, lateOfNetwork: 256 };

/** Of a room that is full, so much is freed at once: finding who takes most reads all. */
const KEPT_OF_FULL_ROOM = 7 / 8;

/** Whoever sends or takes 16 KiB/s keeps the connection that it holds, though others wait for it. */
const QUICK_BYTES_PER_MS = 16;
/**
 * Whoever sends or takes nothing for so long does not, in milliseconds: in a first second all look quick. Systems tell of
 * what was taken in pieces of up to a megabyte, so whoever went on after a longer pause may pause for twice as long.
 */
const STILL_MS = 500;
const PAUSES = 2;

/** A body or an answer that waits for its caller; of a body that is all here the wait for its module. */
export abstract class CallerWait {
  /** Bytes that are counted for it. */
  counted = 0;
  /** Whether it counts against its network. */
  isLate = false;
  /** Bytes for a millisecond between the last two looks: what a system took at once says nothing of its reader. */
  pace = Infinity;
  private lookedAt: number;
  private movedAtLook = 0;
  private stillSince: number;
  private movedAtGlance = 0;
  /** The longest pause after which it went on, in milliseconds. */
  protected longestPause = 0;
  private found: string | undefined;

  constructor(
    private readonly address: string,
    readonly began: number,
  ) {
    this.stillSince = this.lookedAt = began;
  }

  /** Sees whether anything has moved since it was seen last. */
  glance(now: number): void {
    const { moved } = this;
    if (moved === this.movedAtGlance && !this.isHeldUp) return;
    this.longestPause = this.pauseAt(now);
    [this.movedAtGlance, this.stillSince] = [moved, now];
  }

  /** Returns the longest pause, the one that would end now included. */
  protected pauseAt(now: number): number {
    return Math.max(this.longestPause, now - this.stillSince);
  }

  /** Begins to look anew: what came before says nothing. */
  protected beginAnew(now: number): void {
    const { moved } = this;
    [this.stillSince, this.lookedAt] = [now, now];
    this.movedAtGlance = this.movedAtLook = moved;
    this.pace = Infinity;
  }

  /** Returns the milliseconds for which nothing has moved, where that is long, or its pace is slow; else 0. */
  slownessAt(now: number): number {
    if (this.isHeldUp) return 0;
    const still = now - this.stillSince;
    const isStill = still >= Math.max(STILL_MS, PAUSES * this.longestPause);
    return isStill || this.pace < QUICK_BYTES_PER_MS ? Math.max(1, still) : 0;
  }

  measure(now: number): void {
    const { moved } = this;
    this.pace = this.isHeldUp ? Infinity : (moved - this.movedAtLook) / Math.max(1, now - this.lookedAt);
    [this.movedAtLook, this.lookedAt] = [moved, now];
  }

  /** Looked for in late ones alone: most requests never ask. */
  get network(): string {
    return (this.found ??= networkOf(this.address, 24));
  }

  /** Connections to a module of which it holds one; others may wait for that. */
  abstract get holds(): object | undefined;
  /** Bytes that its caller has sent or taken. */
  abstract get moved(): number;
  /** Tells whether it is its module that nothing moves for. */
  protected get isHeldUp(): boolean {
    return false;
  }
  /** Whether its caller has sent or taken too little for too long, or had all its time. */
  abstract isOverdue(now: number): boolean;
  /** Ends it, as its caller is too slow, or as it takes of the memory what there is no room for. */
  abstract giveUp(why: 'slow' | 'crowded'): void;
}

/**
 * Who waits for callers, and for how much memory and how many connections. A caller may be slow as long as nobody needs
 * what that takes: then the slowest of the network that takes most gives way. So a client that holds a thousand requests
 * loses its own.
 */
export class SlowCallers {
  /** Those that began within the last second, the eldest first. */
  private readonly fresh = new Set<CallerWait>();
  private readonly late = new Map<string, Set<CallerWait>>();
  private readonly whole = new WholeBodies<CallerWait>();
  private lateOnes = 0;
  private bytes = 0;
  private readonly afterLooks: (() => void)[] = [];
  private readonly afterGlances: (() => void)[] = [];

  constructor(
    private readonly room: Room = ROOM,
    readonly now: () => number = () => performance.now(),
  ) {}

  /** How many wait, and what is counted for them and for whole bodies. */
  get taken(): { waits: number; bytes: number } {
    return { waits: this.fresh.size + this.lateOnes, bytes: this.bytes };
  }

  /** Runs this after each look: paces are known then. */
  afterLook(run: () => void): void {
    this.afterLooks.push(run);
  }

  /** Runs this after each glance and look: who stands still is known then. */
  afterGlance(run: () => void): void {
    this.afterGlances.push(run);
  }

  begin(wait: CallerWait): void {
    this.whole.leave(wait);
    this.fresh.add(wait);
  }

  /**
   * All of it is here: it waits for its module, and for its caller no more. Bodies of that module may give way; whether it
   * is none of those.
   */
  waitForModule(wait: CallerWait, module: object): boolean {
    this.end(wait);
    this.whole.enter(wait, module);
    const leaving = this.whole.beyondShareOf(module, this.room.bytes);
    for (const last of leaving) this.dismiss(last, 'crowded');
    return !leaving.includes(wait);
  }

  /** It waits for nobody any more; its bytes count until they are released. */
  end(wait: CallerWait): void {
    this.whole.leave(wait);
    this.fresh.delete(wait);
    if (!wait.isLate) return;
    const ofNetwork = this.late.get(wait.network);
    wait.isLate = false;
    if (!ofNetwork?.delete(wait)) return;
    this.lateOnes -= 1;
    if (ofNetwork.size === 0) this.late.delete(wait.network);
  }

  /** Counts what it holds now. Whether there is room, once others have given way who take more. */
  hold(wait: CallerWait, bytes: number): boolean {
    const more = bytes - wait.counted;
    this.bytes += more;
    wait.counted = bytes;
    return more <= 0 || this.bytes <= this.room.bytes || this.free();
  }

  /** It holds nothing any more. */
  release(wait: CallerWait): void {
    this.whole.count(wait, -wait.counted);
    this.bytes -= wait.counted;
    wait.counted = 0;
  }

  /**
   * Lets the one that has been still for longest give way of those that hold one of these connections, of `ofNetwork`, or
   * of the network that holds most by slow ones; no quick one. Whether there was one.
   */
  giveWay(connections: object, ofNetwork?: string): boolean {
    const now = this.now();
    const slow = new Map<string, { count: number; slowest: CallerWait; slowness: number }>();
    let most: { count: number; slowest: CallerWait } | undefined;
    for (const wait of this.waiting()) {
      const slowness = wait.holds === connections ? wait.slownessAt(now) : 0;
      if (slowness === 0 || (ofNetwork !== undefined && wait.network !== ofNetwork)) continue;
      const own = slow.get(wait.network) ?? { count: 0, slowest: wait, slowness: 0 };
      own.count += 1;
      if (slowness > own.slowness) [own.slowest, own.slowness] = [wait, slowness];
      slow.set(wait.network, own);
      if (own.count > (most?.count ?? 0)) most = own;
    }
    this.dismiss(most?.slowest);
    return most !== undefined;
  }

  private *waiting(): Generator<CallerWait> {
    for (const waits of this.late.values()) yield* waits;
    yield* this.fresh;
  }

  /** Sees who stands still; to be called several times a second. */
  glance(): void {
    const now = this.now();
    for (const wait of this.waiting()) wait.glance(now);
    for (const run of this.afterGlances) run();
  }

  /** To be called every second: ends who is overdue, and who is late beyond its network's share. */
  look(): void {
    const now = this.now();
    for (const wait of this.fresh) {
      if (now - wait.began < LATE_MS) break;
      this.fresh.delete(wait);
      wait.isLate = true;
      const ofNetwork = this.late.get(wait.network);
      if (ofNetwork) ofNetwork.add(wait);
      else this.late.set(wait.network, new Set([wait]));
      this.lateOnes += 1;
    }
    for (const waits of this.late.values()) {
      for (const wait of waits) {
        wait.measure(now);
        if (wait.isOverdue(now)) this.dismiss(wait);
      }
      this.keepToShare(waits);
    }
    while (this.lateOnes > this.room.late) this.dismiss(this.slowestOf(this.largest()));
    this.glance();
    for (const run of this.afterLooks) run();
  }

  private keepToShare(waits: ReadonlySet<CallerWait>): void {
    let bytes = 0;
    for (const { counted } of waits) bytes += counted;
    while (waits.size > this.room.lateOfNetwork || bytes > this.room.bytesOfNetwork) {
      const slowest = this.slowestOf(waits);
      bytes -= slowest?.counted ?? 0;
      this.dismiss(slowest);
    }
  }

  private largest(): Iterable<CallerWait> {
    let largest = new Set<CallerWait>();
    for (const waits of this.late.values()) if (waits.size > largest.size) largest = waits;
    return largest;
  }

  /**
   * Frees an eighth, of the networks that hold most: of each those that wait for their callers before those that wait for
   * a module. Whether there is room now.
   */
  private free(): boolean {
    const networks = new Map<string, { bytes: number; order: CallerWait[] }>();
    for (const waits of [...this.late.values(), this.fresh, this.whole.byModules()]) {
      for (const wait of waits) {
        if (wait.counted === 0) continue;
        const network = networks.get(wait.network);
        if (network === undefined) networks.set(wait.network, { bytes: wait.counted, order: [wait] });
        else {
          network.bytes += wait.counted;
          network.order.push(wait);
        }
      }
    }
    while (this.bytes > this.room.bytes * KEPT_OF_FULL_ROOM) {
      let most: { bytes: number; order: CallerWait[] } | undefined;
      for (const network of networks.values()) if (network.bytes > (most?.bytes ?? 0)) most = network;
      const wait = most?.order.shift();
      if (most === undefined || wait === undefined) break;
      most.bytes -= wait.counted;
      this.dismiss(wait, 'crowded');
    }
    return this.bytes <= this.room.bytes;
  }

  private slowestOf(waits: Iterable<CallerWait>): CallerWait | undefined {
    let slowest: CallerWait | undefined;
    for (const wait of waits) if (slowest === undefined || wait.pace < slowest.pace) slowest = wait;
    return slowest;
  }

  private dismiss(wait: CallerWait | undefined, why: 'slow' | 'crowded' = 'slow'): void {
    if (wait === undefined) return;
    this.end(wait);
    this.release(wait);
    wait.giveUp(why);
  }
}
