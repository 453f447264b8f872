import { networkOf } from '@customer-platform/config';
import type { Pool } from 'undici';
import type { SlowCallers } from './slow-callers.js';

/** A network has two connections, as long as there are any, however few are free. */
const LEAST_SHARE = 2;

/**
 * Requests that wait for readers of their own network make so many of those give way at a look, in all: who would come back
 * costs the same again.
 */
const OWN_GIVE_WAY = 2;

/** A request that uses one of a lane's connections, or waits for one. */
export class Place {
  /** Whether its module waits for its caller: to send a large body, or to take what there is of an answer. */
  waitsForCaller = false;
  private found: string | undefined;

  constructor(
    private readonly address: string,
    /** Asks for the connection: there is one. */
    readonly begin: () => void,
    /** There will be none. */
    readonly refuse: (error: Error) => void,
  ) {}

  get network(): string {
    return (this.found ??= networkOf(this.address, 24));
  }
}

/** How much there is of a lane. */
interface LaneSize {
  /** Requests that the module works on at once. */
  readonly connections: number;
  /** Connections beside those, of requests whose module waits for their callers. */
  readonly spare: number;
  /** Requests that may wait for a connection; more would wait in vain and fill the memory. */
  readonly longestQueue: number;
}

/**
 * Connections to a module, and who waits for one: by turns of the networks, those that hold the fewest first, so that none
 * is behind another's queue. A request whose module waits for its caller is none that the module works on: others take its
 * turn, on the spare connections. No network takes more than it leaves free: one alone half of all, two a third each, and so on, so that who
 * comes finds some, whatever others hold.
 */
export class Lane {
  private readonly taken = new Set<Place>();
  /** Requests that the module works on. */
  private working = 0;
  /** Who waits for a connection, by network: the first has the next turn. */
  private readonly queues = new Map<string, Place[]>();
  private queued = 0;
  private serving = false;

  constructor(
    readonly pool: Pool,
    private readonly size: LaneSize,
    private readonly callers: SlowCallers,
  ) {
    callers.afterGlance(() => this.serveOthers());
    callers.afterLook(() => this.serveOwn());
  }

  /** Lets a request begin now or in its network's turn; or refuses it, where too many wait. */
  enter(place: Place): void {
    if (this.hasRoom() && !this.hasItsShare(place)) return this.begin(place);
    if (this.queued >= this.size.longestQueue && !this.makeRoomFor(place)) return place.refuse(tooMany());
    const queue = this.queues.get(place.network);
    if (queue) queue.push(place);
    else this.queues.set(place.network, [place]);
    this.queued += 1;
    if (this.free <= 0 && !this.hasItsShare(place)) this.callers.giveWay(this);
  }

  /** Whether it uses a connection. */
  has(place: Place): boolean {
    return this.taken.has(place);
  }

  /** It needs no connection any more; may be told again. */
  leave(place: Place): void {
    if (!this.taken.delete(place)) return this.unqueue(place);
    if (!place.waitsForCaller) this.working -= 1;
    this.serve();
  }

  /** Its module waits for its caller from here on. */
  waitForCaller(place: Place): void {
    if (place.waitsForCaller || !this.taken.has(place)) return;
    place.waitsForCaller = true;
    this.working -= 1;
    this.serve();
  }

  /** Its module works on it again. */
  goOn(place: Place): void {
    if (!place.waitsForCaller || !this.taken.has(place)) return;
    place.waitsForCaller = false;
    this.working += 1;
  }

  private hasRoom(): boolean {
    return this.working < this.size.connections && this.free > 0;
  }

  private get free(): number {
    return this.size.connections + this.size.spare - this.taken.size;
  }

  /** Whether its network holds as many connections as are free. Nobody's network is looked for while most are. */
  private hasItsShare(place: Place): boolean {
    const { free } = this;
    if (this.taken.size < free) return false;
    let own = 0;
    for (const { network } of this.taken) if (network === place.network) own += 1;
    return own >= Math.max(LEAST_SHARE, free);
  }

  private begin(place: Place): void {
    this.taken.add(place);
    this.working += 1;
    try {
      place.begin();
    } catch (error) {
      this.leave(place);
      place.refuse(error as Error);
    }
  }

  private serve(): void {
    if (this.serving) return; // one that begins may end at once, and so come here
    this.serving = true;
    for (let next = this.next(); next !== undefined; next = this.next()) this.serveFirst(next);
    this.serving = false;
  }

  /** The network whose turn it is: of those that hold the fewest connections the one that has waited for a turn longest. */
  private next(): string | undefined {
    if (this.queued === 0 || !this.hasRoom()) return undefined;
    const held = new Map<string, number>();
    for (const { network } of this.taken) held.set(network, (held.get(network) ?? 0) + 1);
    let next: string | undefined;
    let fewest = Math.max(LEAST_SHARE, this.free);
    for (const network of this.queues.keys()) {
      const own = held.get(network) ?? 0;
      if (own < fewest) [next, fewest] = [network, own];
    }
    return next;
  }

  private serveFirst(network: string): void {
    const queue = this.queues.get(network);
    const first = queue?.shift();
    if (queue === undefined || first === undefined) return;
    this.queued -= 1;
    this.queues.delete(network);
    if (queue.length > 0) this.queues.set(network, queue); // behind all others
    this.begin(first);
  }

  /**
   * Slow callers give way to who waits and has less than its share, where all connections are held: while there are some,
   * others wait for the module, and it would help nobody.
   */
  private serveOthers(): void {
    for (const { 0: first, length } of [...this.queues.values()]) {
      if (first === undefined || this.hasItsShare(first)) continue;
      for (let left = length; left > 0; left -= 1) if (this.free > 0 || !this.callers.giveWay(this)) return;
    }
  }

  /** Slow callers give way to who waits of their own network. */
  private serveOwn(): void {
    let left = OWN_GIVE_WAY;
    for (const [network, { 0: first }] of [...this.queues]) {
      if (left === 0) return;
      if (first === undefined || !this.hasItsShare(first)) continue;
      if (this.callers.giveWay(this, network)) left -= 1;
    }
  }

  /** Where the queue is full, the network that has most of it loses its last, unless that is the newcomer's. */
  private makeRoomFor({ network }: Place): boolean {
    let most: Place[] = [];
    for (const queue of this.queues.values()) if (queue.length > most.length) most = queue;
    const last = most.at(-1);
    if (last === undefined || most.length <= (this.queues.get(network)?.length ?? 0) + 1) return false;
    this.unqueue(last);
    last.refuse(tooMany());
    return true;
  }

  private unqueue(place: Place): void {
    const queue = this.queues.get(place.network);
    const at = queue?.indexOf(place) ?? -1;
    if (queue === undefined || at === -1) return;
    queue.splice(at, 1);
    this.queued -= 1;
    if (queue.length === 0) this.queues.delete(place.network);
  }
}

function tooMany(): Error {
  return new Error('too many requests wait for the module');
}
