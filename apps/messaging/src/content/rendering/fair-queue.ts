/** What waits in its organization's turn, and that in its tenant's. */
export interface InLane {
  readonly tenant: string;
  readonly organization: string;
}

/** Turns of one tenant's organizations, in their order. */
type Turns<Item> = Map<string, Item[]>;

/**
 * A queue in which tenants take turns, and within a tenant its organizations: a long one makes those in it wait, and
 * nobody else, and whoever has many organizations has the turns of one tenant.
 */
export class FairQueue<Item extends InLane> {
  /** In the order of their turns. */
  private readonly tenants = new Map<string, Turns<Item>>();
  private count = 0;

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** How many wait, of all tenants. */
  get size(): number {
    return this.count;
  }

  /** How many of one organization wait. */
  sizeOf({ tenant, organization }: InLane): number {
    return this.tenants.get(tenant)?.get(organization)?.length ?? 0;
  }

  /** How many of a tenant's organizations, all together, wait. */
  sizeOfTenant(tenant: string): number {
    return [...(this.tenants.get(tenant)?.values() ?? [])].reduce((sum, items) => sum + items.length, 0);
  }

  add(item: Item): void {
    const turns = this.tenants.get(item.tenant) ?? new Map<string, Item[]>();
    const items = turns.get(item.organization);
    if (items) items.push(item);
    else turns.set(item.organization, [item]);
    this.tenants.set(item.tenant, turns);
    this.count += 1;
  }

  /** Puts back what was taken, before what has come since; its turn is next. */
  putBack(item: Item): void {
    const turns = this.tenants.get(item.tenant) ?? new Map<string, Item[]>();
    const items = [item, ...(turns.get(item.organization) ?? [])];
    toFront(this.tenants, item.tenant, toFront(turns, item.organization, items));
    this.count += 1;
  }

  /** Takes the oldest of the first tenant that may go on, whose next turn is after all others'. */
  take(mayGoOn: (tenant: string) => boolean): Item | undefined {
    for (const [tenant, turns] of this.tenants) {
      if (!mayGoOn(tenant)) continue;
      const [[organization, items] = ['', []]] = turns;
      const item = items.shift();
      turns.delete(organization);
      if (items.length > 0) turns.set(organization, items);
      this.tenants.delete(tenant);
      if (turns.size > 0) this.tenants.set(tenant, turns);
      if (item) this.count -= 1;
      return item;
    }
    return undefined;
  }
}

function toFront<Value>(turns: Map<string, Value>, name: string, value: Value): Map<string, Value> {
  const others = [...turns].filter(([other]) => other !== name);
  turns.clear();
  turns.set(name, value);
  for (const [other, waiting] of others) turns.set(other, waiting);
  return turns;
}
