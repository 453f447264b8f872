import { isTransient, ranOut, type Clock } from '@customer-platform/database';
import { ItemBackoff } from '@customer-platform/http';

/**
 * Claims of many places at once (groups of sends, endpoints, organizations). A place of which nothing can be claimed is found
 * by halves, told, and left for a while, so that the others' turn comes.
 */
export class ClaimsApart<Place> {
  private readonly backoff: ItemBackoff;
  /** Names of places that failed together with others, and were not told apart from them yet. */
  private readonly suspects = new Set<string>();
  private areSuspectsFirst = false;

  /** @param nameOf as a place's failures are counted and told by */
  constructor(
    job: string,
    clock: Clock,
    private readonly nameOf: (place: Place) => string,
  ) {
    this.backoff = new ItemBackoff(job, clock);
  }

  /** Tells whether it is left alone for now. */
  waits(place: Place): boolean {
    return this.backoff.waits(this.nameOf(place));
  }

  /** The names of those that are left alone for now. */
  waiting(): string[] {
    return this.backoff.waiting();
  }

  /** Tells whether some failed together of which it is not known yet which is at fault. */
  get doubts(): boolean {
    return this.suspects.size > 0;
  }

  /** Forgets doubts about all but these: of the others nothing is due. */
  doubtOnly(places: readonly Place[]): void {
    const names = new Set(places.map(this.nameOf));
    for (const name of this.suspects) if (!names.has(name)) this.suspects.delete(name);
  }

  /** Forgets failures of places of which something could be claimed. */
  passed(places: readonly Place[]): void {
    for (const place of places) {
      this.backoff.passed(this.nameOf(place));
      this.suspects.delete(this.nameOf(place));
    }
  }

  /**
   * Claims of all of them, without those that are left alone. Where that fails it comes back with what was claimed first: a
   * claim lasts for seconds, and whoever has one begins. The rest is not claimed with the others again, but every other time
   * before them, until it is known who is at fault: whoever has something due always would keep it waiting.
   * @throws what says that the database is away: all places would meet the same
   */
  async take<P extends Place, T>(
    places: readonly P[],
    claim: (some: readonly P[]) => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const ready = places.filter((place) => !this.waits(place));
    const isSuspect = (place: P): boolean => this.suspects.has(this.nameOf(place));
    const parts = [ready.filter((place) => !isSuspect(place)), ready.filter(isSuspect)];
    if (this.areSuspectsFirst) parts.reverse();
    this.areSuspectsFirst = !this.areSuspectsFirst;
    for (const part of parts) {
      const claimed = await this.some(part, claim);
      if (claimed.length > 0) return claimed;
    }
    return [];
  }

  private async some<P extends Place, T>(
    places: readonly P[],
    claim: (some: readonly P[]) => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const [first] = places;
    if (first === undefined) return [];
    try {
      const claimed = await claim(places);
      this.passed(places);
      return claimed;
    } catch (error) {
      if (isTransient(error) && !ranOut(error)) throw error;
      if (places.length === 1) {
        this.backoff.failed(this.nameOf(first), error);
        this.suspects.delete(this.nameOf(first));
        return [];
      }
      for (const place of places) this.suspects.add(this.nameOf(place));
      const middle = places.length >> 1;
      const claimed = await this.some(places.slice(0, middle), claim);
      return claimed.length > 0 ? claimed : this.some(places.slice(middle), claim);
    }
  }
}
