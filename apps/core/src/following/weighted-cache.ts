/** What is kept, and how much of it. */
interface Kept<T> {
  readonly value: T;
  readonly weight: number;
}

/** Values in memory up to a weight of all; what was not asked for the longest is the first to go. */
class Shelf<T> {
  private readonly kept = new Map<string, Kept<T>>();
  private weight = 0;

  constructor(private readonly most: number) {}

  /** Put last; the newest stays, whatever it weighs. */
  put(key: string, kept: Kept<T>): void {
    this.remove(key);
    this.kept.set(key, kept);
    this.weight += kept.weight;
    for (const oldest of this.kept.keys()) {
      if (this.weight <= this.most || oldest === key) break;
      this.remove(oldest);
    }
  }

  get(key: string): Kept<T> | undefined {
    return this.kept.get(key);
  }

  remove(key: string): void {
    const former = this.kept.get(key);
    if (!former) return;
    this.kept.delete(key);
    this.weight -= former.weight;
  }
}

/** How much is kept. */
interface Bounds {
  /** Of all that are not large. */
  readonly most: number;
  /** What weighs more is large. */
  readonly large: number;
  /** Of all that are large. */
  readonly mostLarge: number;
}

/** Values by key, in memory up to a weight. Large ones push out one another only, and never what many others ask for. */
export class WeightedCache<T> {
  private readonly small: Shelf<T>;
  private readonly large: Shelf<T>;

  constructor(private readonly bounds: Bounds) {
    this.small = new Shelf(bounds.most);
    this.large = new Shelf(bounds.mostLarge);
  }

  keep(key: string, value: T, weight: number): void {
    const isLarge = weight > this.bounds.large;
    (isLarge ? this.small : this.large).remove(key);
    (isLarge ? this.large : this.small).put(key, { value, weight });
  }

  /** What is asked for goes last. */
  get(key: string): T | undefined {
    for (const shelf of [this.small, this.large]) {
      const kept = shelf.get(key);
      if (!kept) continue;
      shelf.put(key, kept);
      return kept.value;
    }
    return undefined;
  }

  /** Without asking for it. */
  has(key: string): boolean {
    return [this.small, this.large].some((shelf) => shelf.get(key) !== undefined);
  }
}
