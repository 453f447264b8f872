/** What waits in a lane of its own: an organization's. */
export interface InLane {
  readonly lane: string;
}

/** A queue in which lanes take turns: a long one makes those in it wait, and nobody else. */
export class FairQueue<Item extends InLane> {
  /** In the order of their turns. */
  private readonly lanes = new Map<string, Item[]>();

  get isEmpty(): boolean {
    return this.lanes.size === 0;
  }

  /** How many wait, in all lanes. */
  get size(): number {
    return [...this.lanes.values()].reduce((sum, items) => sum + items.length, 0);
  }

  /** How many wait in one lane. */
  sizeOf(lane: string): number {
    return this.lanes.get(lane)?.length ?? 0;
  }

  add(item: Item): void {
    const lane = this.lanes.get(item.lane);
    if (lane) lane.push(item);
    else this.lanes.set(item.lane, [item]);
  }

  /** Puts back what was taken, before what has come since; its lane is next. */
  putBack(item: Item): void {
    const lane = [item, ...(this.lanes.get(item.lane) ?? [])];
    const others = [...this.lanes].filter(([name]) => name !== item.lane);
    this.lanes.clear();
    this.lanes.set(item.lane, lane);
    for (const [name, items] of others) this.lanes.set(name, items);
  }

  /** Takes the oldest of the first lane that may go on, whose next turn is after all others'. */
  take(mayGoOn: (lane: string) => boolean): Item | undefined {
    for (const [name, items] of this.lanes) {
      if (!mayGoOn(name)) continue;
      this.lanes.delete(name);
      const item = items.shift();
      if (items.length > 0) this.lanes.set(name, items);
      return item;
    }
    return undefined;
  }
}
