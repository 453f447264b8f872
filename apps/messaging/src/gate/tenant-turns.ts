/** Something that waits, and how many places it may take. */
export interface Turn<T> {
  readonly of: T;
  readonly places: number;
}

/**
 * Gives places to what waits: tenants take turns, and in a tenant what waits of its organizations, so that whoever
 * founds further ones has the turns of one tenant, and starves none of its own.
 */
export class TenantTurns {
  private first = 0;
  /** The place of the first of its own, in each tenant that waited the last time. */
  private firsts = new Map<string, number>();

  constructor(private readonly tenants: { of(organizationId: string): string }) {}

  /** @returns those that have places, in the order in which they are given; all places are, where anything waits */
  give<T extends { readonly organizationId: string }>(waiting: readonly T[], places: number): Turn<T>[] {
    const byTenant = Map.groupBy(waiting, ({ organizationId }) => this.tenants.of(organizationId));
    const lines = rotatedBy([...byTenant], this.first).map(([tenant, own]) => ({
      tenant,
      own: rotatedBy(own, this.firsts.get(tenant) ?? 0),
      given: 0,
    }));
    const taken = new Map<T, number>();
    let left = lines.length === 0 ? 0 : places;
    while (left > 0) {
      for (const line of lines.slice(0, left)) {
        const next = line.own[line.given % line.own.length];
        if (next !== undefined) taken.set(next, (taken.get(next) ?? 0) + 1);
        line.given += 1;
        left -= 1;
      }
    }
    this.first = after(this.first, places, lines.length);
    this.firsts = new Map(
      lines.map(({ tenant, own, given }) => [tenant, after(this.firsts.get(tenant) ?? 0, given, own.length)]),
    );
    return Array.from(taken, ([of, count]) => ({ of, places: count }));
  }
}

/** Whoever had none is first the next time; where all had some, another one is. */
function after(first: number, given: number, count: number): number {
  return count === 0 ? 0 : (first + (given < count ? given : 1)) % count;
}

function rotatedBy<T>(list: readonly T[], by: number): readonly T[] {
  const first = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}
