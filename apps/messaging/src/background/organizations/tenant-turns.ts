/** Something that waits, and how many places it may take. */
export interface Turn<T> {
  readonly of: T;
  readonly places: number;
}

interface Waiting {
  readonly organizationId: string;
}

/**
 * Gives places to what waits: tenants take turns, in a tenant its organizations, and in each of them what waits there. So
 * whoever founds further organizations, or has many channels, has one turn like the others, and starves none of its own.
 */
export class TenantTurns {
  private readonly circle = new Circle();

  constructor(private readonly tenants: { of(organizationId: string): string }) {}

  /** @returns those that have places, in the order in which they are given; all places are, where anything waits */
  give<T extends Waiting>(waiting: readonly T[], places: number): Turn<T>[] {
    const tenantOf = ({ organizationId }: T): string => this.tenants.of(organizationId);
    const organizationOf = ({ organizationId }: T): string => organizationId;
    const taken = new Map<T, number>();
    for (const next of this.circle.deal(waiting, [tenantOf, organizationOf], places))
      taken.set(next, (taken.get(next) ?? 0) + 1);
    return Array.from(taken, ([of, count]) => ({ of, places: count }));
  }
}

/** Those who take turns, with a circle of their own beneath each. */
class Circle {
  private first = 0;
  /** Turns of those that waited the last time. */
  private beneath = new Map<string, Circle>();

  /**
   * @param levels what those are called by who take turns here, then beneath; at the end it is each by itself
   * @returns whose each place is
   */
  deal<T>(waiting: readonly T[], levels: readonly ((one: T) => string)[], places: number): T[] {
    if (waiting.length === 0) return [];
    const [nameOf, ...further] = levels;
    const lines = nameOf
      ? [...Map.groupBy(waiting, nameOf)]
      : waiting.map((one): [string, T[]] => ['', [one]]);
    const beneath = new Map<string, Circle>();
    const dealt = rotatedBy(lines, this.first).map(([name, own], at) => {
      const count = Math.floor(places / lines.length) + (at < places % lines.length ? 1 : 0);
      if (!nameOf) return own.flatMap((one) => Array<T>(count).fill(one));
      const circle = this.beneath.get(name) ?? new Circle();
      beneath.set(name, circle);
      return count === 0 ? [] : circle.deal(own, further, count);
    });
    this.beneath = beneath;
    this.first = after(this.first, places, lines.length);
    const rounds = Math.ceil(places / lines.length);
    return Array.from({ length: rounds }, (_, round) =>
      dealt.flatMap((line) => line.slice(round, round + 1)),
    ).flat();
  }
}

/** Whoever had none is first the next time; where all had some, another one is. */
function after(first: number, given: number, count: number): number {
  return (first + (given < count ? given : 1)) % count;
}

function rotatedBy<T>(list: readonly T[], by: number): readonly T[] {
  const first = by % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}
